// Two parallel loops, as they are written. NAME distinguishes compilations.
#include "jacobi.h"

#ifndef NAME
#define NAME ""
#endif

#ifdef THIRD
static void on_to(double *restrict a, const double *restrict b, double *restrict c) {
  int n = size;
  long width = n + 2;
#pragma omp parallel for
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= n; j++)
      A(i, j) = SWEPT(B, i, j);
#pragma omp parallel for
  for (int i = 2; i < n; i++)
    for (int j = 2; j < n; j++)
      C(i, j) = SWEPT(A, i, j);
}

static void plain(void) {
  for (int pair = 0; pair < pairs; pair += 2) {
    on_to(plane_a, plane_b, plane_c);
    on_to(plane_a, plane_c, plane_b);
  }
}
#else
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
#endif

WAY("plain" NAME, plain)
