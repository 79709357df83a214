// The two loops as a chain: NAME is what the way is called, ITEMS its schedule.
#include "jacobi.h"

#define CHAIN(ITEMS) CHAIN_OF(ITEMS)
#define CHAIN_OF(...) AS_PRAGMA(omplc loopchain schedule(__VA_ARGS__) local a)
#define AS_PRAGMA(...) _Pragma(#__VA_ARGS__)

static void chain(void) {
  double *restrict a = plane_a, *restrict b = plane_b;
  int n = size;
  long width = n + 2;
  for (int pair = 0; pair < pairs; pair++) {
    CHAIN(ITEMS) {
#pragma omplc for domain(1 : n, 1 : n) with(i, j) write a{(i, j)}, read b{(i - 1, j), (i, j), (i + 1, j), (i, j - 1), (i, j + 1)}
#pragma omp parallel for
      for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++)
          A(i, j) = SWEPT(B, i, j);
#pragma omplc for domain(1 : n, 1 : n) with(i, j) write b{(i, j)}, read a{(i - 1, j), (i, j), (i + 1, j), (i, j - 1), (i, j + 1)}
#pragma omp parallel for
      for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++)
          B(i, j) = SWEPT(A, i, j);
    }
  }
}

WAY(NAME, chain)
