// schedules: 0 1 2 3 4
// refused: 90
//
// What stands between the loops of a chain in programs that were written without one: numbers that are computed there, pointers
// that are set, conditions at borders inside loops.
#include "chain.h"

#if SCHEDULE == 0
#define ITEMS
#elif SCHEDULE == 1
#define ITEMS auto
#elif SCHEDULE == 2
#define ITEMS fuse()
#elif SCHEDULE == 3
#define ITEMS fuse(), tile((8), serial, serial)
#elif SCHEDULE == 4
#define ITEMS parallel
#elif SCHEDULE == 90
#define ITEMS fuse((0), (0))
#endif

enum { N = 70 };

static void statements(const double *a, double *b, double *c, double step, int n) {
  PRAGMA(omplc loopchain schedule(ITEMS))
  {
    double half = 0.5 * step;
    const double *from = a;
#pragma omplc for domain(1 : n) with(i) read a{(i - 1), (i + 1)}, write b{(i)}
    for (int i = 1; i <= n; i++)
      b[i] = half * (from[i + 1] - from[i - 1]);
    double third = half * 2 / 3;
    double *to = c;
#pragma omplc for domain(1 : n - 1) with(i) read b{(i), (i + 1)}, write c{(i)}
    for (int i = 1; i <= n - 1; i++)
      to[i] = third * (b[i] + b[i + 1]);
  }
}

// A border that is only there in some boxes.
static void border(const double *a, double *b, double *c, int n, int is_first) {
  PRAGMA(omplc loopchain schedule(ITEMS))
  {
#pragma omplc for domain(1 : n) with(i) read a{(i - 1), (i)}, write b{(i)}
    for (int i = 1; i <= n; i++) {
      b[i] = a[i] - a[i - 1];
      if (is_first && i == 1)
        b[i] = 2 * a[i];
    }
#pragma omplc for domain(1 : n - 1) with(i) read b{(i), (i + 1)}, write c{(i)}
    for (int i = 1; i <= n - 1; i++)
      c[i] = is_first ? b[i] : b[i] + b[i + 1];
  }
}

int main(void) {
  double a[N + 2], b[N + 2], c[N + 2];
  for (int i = 0; i < N + 2; i++) {
    a[i] = noise(i);
    b[i] = noise(i + 100);
    c[i] = noise(i + 200);
  }
  statements(a, b, c, 0.75, N);
  print_doubles("c", c, N + 2);
  border(a, b, c, N, 0);
  print_doubles("c", c, N + 2);
  border(b, a, c, N, 1);
  print_doubles("a", a, N + 2);
  print_doubles("c", c, N + 2);
  return 0;
}
