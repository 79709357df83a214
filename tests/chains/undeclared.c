// schedules: 0 1 2 3 4
// refused: 90
//
// A loop of a chain says nothing of what it accesses, or nothing but its domain: what it does is found, or the chain stays as it is.
// That it accesses nothing is never taken for true.
#include "chain.h"

#if SCHEDULE == 0
#define ITEMS
#elif SCHEDULE == 1
#define ITEMS auto
#elif SCHEDULE == 2
#define ITEMS fuse()
#elif SCHEDULE == 3
#define ITEMS fuse(), tile((8), wavefront, serial)
#elif SCHEDULE == 4
#define ITEMS parallel
#elif SCHEDULE == 90
#define ITEMS fuse((0), (0), (0), (7), (7))
#endif

enum { N = 40 };

int main(void) {
  static double a[N + 8], b[N + 8], c[N + 8];
  for (int i = 0; i < N + 8; i++) {
    a[i] = noise(i);
    b[i] = noise(i + 100);
    c[i] = noise(i + 200);
  }
  PRAGMA(omplc loopchain schedule(ITEMS))
  {
#pragma omplc for domain(2 : N) with(i) read a{(i + 1)}, write b{(i)}
    for (int i = 2; i <= N; i++)
      b[i] = 0.5 * a[i + 1];
#pragma omplc for domain(2 : N)
    for (int i = 2; i <= N; i++)
      c[i] = b[i + 2] - a[i];
#pragma omplc for domain(2 : N) with(i) read c{(i + 1)}, write a{(i)}
    for (int i = 2; i <= N; i++)
      a[i] = 0.25 * c[i + 1];
#pragma omplc for domain(2 : N)
    for (int i = 2; i <= N; i++)
      b[i] += a[i + 3];
#pragma omplc for domain(2 : N)
    for (int i = 2; i <= N; i++)
      c[i] += b[i - 1] + b[i + 1];
  }
  print_doubles("a", a, N + 8);
  print_doubles("b", b, N + 8);
  print_doubles("c", c, N + 8);
  return 0;
}
