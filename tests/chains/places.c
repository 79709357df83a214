// schedules: 0 1 2 3 4 5
// refused: 90
//
// Where a chain may stand: behind `if` and `else` without braces, in a loop over time in which arrays change places, in a `switch`,
// behind a label, twice in a row, with calls around it, in a function with several results, under a condition that is false; one
// of a single loop.
#include "chain.h"

#if SCHEDULE == 0
#define ITEMS
#elif SCHEDULE == 1
#define ITEMS auto
#elif SCHEDULE == 2
#define ITEMS fuse()
#elif SCHEDULE == 3
#define ITEMS fuse(), tile((6), serial, serial)
#elif SCHEDULE == 4
#define ITEMS parallel
#elif SCHEDULE == 5
#define ITEMS fuse(), tile((16), parallel, serial, overlap)
#elif SCHEDULE == 90
#define ITEMS fuse((1), (0))
#endif

enum { N = 50 };

#define SMOOTH(to, from, more)                                                                             \
  PRAGMA(omplc loopchain schedule(ITEMS))                                                                  \
  {                                                                                                        \
    PRAGMA(omplc for domain(1 : N) with(i) read from{(i - 1), (i + 1)}, write to{(i)})                     \
    for (int i = 1; i <= N; i++)                                                                           \
      to[i] = 0.5 * (from[i - 1] + from[i + 1]);                                                           \
    PRAGMA(omplc for domain(1 : N) with(i) read to{(i - 1), (i)}, write more{(i)})                         \
    for (int i = 1; i <= N; i++)                                                                           \
      more[i] = to[i] - to[i - 1];                                                                         \
  }

static int choose(int what, double *a, double *b, double *c) {
  if (what == 0)
    SMOOTH(a, b, c)
  else if (what == 1)
    SMOOTH(b, c, a)
  else
    for (int once = 0; once < 2; once++)
      SMOOTH(c, a, b)

  switch (what) {
  case 1:
    SMOOTH(a, c, b)
    return 1;
  case 2:
    goto last;
  default:
    break;
  }
  return 0;
last:
  SMOOTH(b, a, c)
  SMOOTH(c, b, a)
  return 2;
}

static void over_time(double *a, double *b, double *c, int times) {
  for (int t = 0; t < times; t++) {
    SMOOTH(a, b, c)
    double *swap = a;
    a = b;
    b = swap;
    if (a[1] > 1e9)
      break;
  }
}

// Loops behind conditions, of which one does not run, and one loop without another.
static void conditions(double *a, double *b, int is_wanted) {
  PRAGMA(omplc loopchain schedule())
  {
    if (is_wanted)
#pragma omplc for domain(0 : N) with(i) write a{(i)}
      for (int i = 0; i <= N; i++)
        a[i] = 1;
#pragma omplc for domain(0 : N) with(i) read a{(i)}, write b{(i)}
    for (int i = 0; i <= N; i++)
      b[i] += a[i];
  }
  PRAGMA(omplc loopchain schedule(parallel))
  {
#pragma omplc for domain(0 : N) with(i) read b{(i)}, write b{(i)}
    for (int i = 0; i <= N; i++)
      b[i] *= 0.75;
  }
}

int main(void) {
  double a[N + 2], b[N + 2], c[N + 2];
  for (int i = 0; i < N + 2; i++) {
    a[i] = noise(i);
    b[i] = noise(i + 100);
    c[i] = noise(i + 200);
  }
  for (int what = 0; what < 3; what++)
    printf("%d\n", choose(what, a, b, c));
  over_time(a, b, c, 7);
  conditions(a, b, 0);
  conditions(b, c, 1);
  print_doubles("a", a, N + 2);
  print_doubles("b", b, N + 2);
  print_doubles("c", c, N + 2);
  return 0;
}
