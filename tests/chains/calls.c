// variants: CALLS
// schedules: 0 1 2 3 4
// refused: 90
//
// A loop in a function that a chain calls three times, with other arrays each time. Without CALLS the chain is written out.
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
#define ITEMS fuse((0), (0), (0))
#endif

enum { N = 70 };

#ifdef CALLS
static void average(const double *from, double *to, int n, double weight) {
#pragma omplc for domain(1 : n) with(x) read from{(x - 1), (x + 1)}, write to{(x)}
  for (int x = 1; x <= n; x++)
    to[x] = weight * (from[x - 1] + from[x + 1]);
}

// The same function three times, with other arrays, so that its spaces are others each time.
static void calls(double *a, double *b, double *c, int n) {
  PRAGMA(omplc loopchain schedule(ITEMS))
  {
    average(a, b, n, 0.5);
    average(b, c, n, 0.25);
    average(c, a, n, 0.125);
  }
}
#else
#define AVERAGE(from, to, weight)                                                             \
  PRAGMA(omplc for domain(1 : n) with(x) read from{(x - 1), (x + 1)}, write to{(x)})          \
  for (int x = 1; x <= n; x++)                                                                \
    to[x] = weight * (from[x - 1] + from[x + 1]);

static void calls(double *a, double *b, double *c, int n) {
  PRAGMA(omplc loopchain schedule(ITEMS))
  {
    AVERAGE(a, b, 0.5)
    AVERAGE(b, c, 0.25)
    AVERAGE(c, a, 0.125)
  }
}
#endif

int main(void) {
  double a[N + 2], b[N + 2], c[N + 2];
  for (int i = 0; i < N + 2; i++) {
    a[i] = noise(i);
    b[i] = noise(i + 100);
    c[i] = noise(i + 200);
  }
  calls(a, b, c, N);
  print_doubles("a", a, N + 2);
  print_doubles("b", b, N + 2);
  print_doubles("c", c, N + 2);
  return 0;
}
