// The two loops as a chain: NAME is what the way is called, ITEMS its schedule.
#include "jacobi.h"

#define CHAIN(ITEMS) CHAIN_OF(ITEMS)
#define CHAIN_OF(...) AS_PRAGMA(omplc loopchain schedule(__VA_ARGS__) local a)
#define AS_PRAGMA(...) _Pragma(#__VA_ARGS__)

#ifdef THIRD
static void on_to(double *restrict a, const double *restrict b, double *restrict c) {
  int n = size;
  long width = n + 2;
  CHAIN(ITEMS) {
#pragma omplc for domain(1 : n, 1 : n) with(i, j) write a{(i, j)}, read b{(i - 1, j), (i, j), (i + 1, j), (i, j - 1), (i, j + 1)}
#pragma omp parallel for
    for (int i = 1; i <= n; i++)
      for (int j = 1; j <= n; j++)
        A(i, j) = SWEPT(B, i, j);
#pragma omplc for domain(2 : n - 1, 2 : n - 1) with(i, j) write c{(i, j)}, read a{(i - 1, j), (i, j), (i + 1, j), (i, j - 1), (i, j + 1)}
#pragma omp parallel for
    for (int i = 2; i < n; i++)
      for (int j = 2; j < n; j++)
        C(i, j) = SWEPT(A, i, j);
  }
}

static void chain(void) {
  for (int pair = 0; pair < pairs; pair += 2) {
    on_to(plane_a, plane_b, plane_c);
    on_to(plane_a, plane_c, plane_b);
  }
}
#else
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
#endif

WAY(NAME, chain)
