// Two parallel loops, as they are written. NAME distinguishes compilations.
#include "jacobi.h"

#ifndef NAME
#define NAME ""
#endif

static void plain(void) {
  double *restrict a = plane_a, *restrict b = plane_b;
  int n = size;
  long width = n + 2;
  for (int pair = 0; pair < pairs; pair++) {
#pragma omp parallel for
    for (int i = 1; i <= n; i++)
      for (int j = 1; j <= n; j++)
        A(i, j) = SWEPT(B, i, j);
#pragma omp parallel for
    for (int i = 1; i <= n; i++)
      for (int j = 1; j <= n; j++)
        B(i, j) = SWEPT(A, i, j);
  }
}

WAY("plain" NAME, plain)
