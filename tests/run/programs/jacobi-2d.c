// Jacobi iteration in two dimensions in one region, with a residual each sweep.
// threads: any
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  const int n = 100, sweeps = 40;
  double **u = malloc((n + 2) * sizeof *u), **v = malloc((n + 2) * sizeof *v), residual = 0;
  for (int i = 0; i < n + 2; i++) {
    u[i] = calloc(n + 2, sizeof **u);
    v[i] = calloc(n + 2, sizeof **v);
  }
  for (int i = 0; i < n + 2; i++) u[i][0] = v[i][0] = 64;
#pragma omp parallel
  for (int sweep = 0; sweep < sweeps; sweep++) {
#pragma omp single
    residual = 0;
#pragma omp for reduction(max : residual)
    for (int i = 1; i <= n; i++)
      for (int j = 1; j <= n; j++) {
        v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
        double d = v[i][j] - u[i][j];
        if (d * d > residual) residual = d * d;
      }
#pragma omp single
    {
      double **swap = u;
      u = v;
      v = swap;
    }
  }
  double sum = 0;
  for (int i = 0; i < n + 2; i++) {
    for (int j = 0; j < n + 2; j++) sum += u[i][j] * (i + 2 * j);
    free(u[i]);
    free(v[i]);
  }
  free(u);
  free(v);
  printf("%.17g %.17g\n", residual, sum);
  return 0;
}
