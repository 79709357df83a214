// schedules: 0 1 2 3 4
// refused: 90
//
// Macros wherever there may be any: in bounds, in accesses, in schedules and for whole clauses; that are defined anew, and that are
// undefined; in a header that is included several times; pragmas on several lines, with comments, made by `_Pragma`, in a branch
// of `#if` that is not taken, and in a string, where there is none.
#include "chain.h"

#if SCHEDULE == 0
#define WHAT
#elif SCHEDULE == 1
#define WHAT auto
#elif SCHEDULE == 2
#define WHAT FUSED()
#elif SCHEDULE == 3
#define WHAT FUSED(), TILED(SMALL, SERIAL)
#elif SCHEDULE == 4
#define WHAT TILED(LARGE, parallel)
#elif SCHEDULE == 90
#define WHAT fuse((0), (0))
#endif

#define FUSED fuse
#define TILED(SIZE, OVER) tile((SIZE), OVER, SERIAL)
#define SERIAL serial
#define SMALL (1 << 2)
#define LARGE SMALL + 5
#define EACH_READ(SPACE, BESIDE) read SPACE{(i - BESIDE), (i + BESIDE)}

#define NAME near
#define TYPE double
#define REACH 1
#define FIRST REACH
#define LAST (n - REACH)
#include "pair-of-sweeps.h"

#define NAME far
#define TYPE double
#define REACH 3
#define FIRST (2 * REACH)
#define LAST ((n) - 2 * REACH)
#include "pair-of-sweeps.h"

#define NAME integers
#define TYPE long
#define REACH 2
#define FIRST REACH
#define LAST n - 1 - REACH
#include "pair-of-sweeps.h"

static const char *text = "#pragma omplc loopchain schedule(";

static void defined_anew(double *a, double *b, int n) {
#define END n - 1
#define LOOP(SPACES) PRAGMA(omplc for domain(1 : END) with(i) SPACES)
#if 0
#pragma omplc this is not read
#endif
  PRAGMA(omplc loopchain schedule(WHAT))
  {
    LOOP(read b{(i - 1)} write a{(i)})
    for (int i = 1; i <= END; i++)
      a[i] = b[i - 1] + 1;
#undef END
#define END n
    LOOP(read a{(i - 1)} write b{(i)})
    for (int i = 1; i <= END; i++)
      b[i] = a[i - 1] * 2;
  }
}

int main(void) {
  enum { N = 40 };
  double a[N + 2], b[N + 2];
  long x[N + 2], y[N + 2];
  for (int i = 0; i < N + 2; i++) {
    a[i] = noise(i);
    b[i] = noise(i + 100);
    x[i] = i * 3;
    y[i] = i * i;
  }
  near(a, b, N + 1);
  far(a, b, N + 1);
  integers(x, y, N);
  defined_anew(a, b, N);
  print_doubles("a", a, N + 2);
  print_doubles("b", b, N + 2);
  printf("%016llx %016llx\n", (unsigned long long)mix_of(1, x, sizeof x), (unsigned long long)mix_of(1, y, sizeof y));
  puts(text);
  return 0;
}
