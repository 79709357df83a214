// Matrix products in three loop orders, one of them blocked, on heap and static matrices.
// threads: any
#include <stdio.h>
#include <stdlib.h>

enum { n = 96 };
static double b[n][n], c[n][n];

int main(void) {
  double(*a)[n] = malloc(sizeof(double[n][n])), (*d)[n] = calloc(n, sizeof *d);
#pragma omp parallel
  {
#pragma omp for collapse(2)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        a[i][j] = (i + j) % 7 - 3;
        b[i][j] = (i * j) % 5 - 2;
      }
#pragma omp for
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int k = 0; k < n; k++) sum += a[i][k] * b[k][j];
        c[i][j] = sum;
      }
#pragma omp for collapse(2) schedule(static, 1)
    for (int bi = 0; bi < n; bi += 32)
      for (int bj = 0; bj < n; bj += 32)
        for (int k = 0; k < n; k++)
          for (int i = bi; i < bi + 32; i++)
            for (int j = bj; j < bj + 32; j++) d[i][j] += b[i][k] * c[k][j];
  }
  double trace = 0, sum = 0;
  for (int i = 0; i < n; i++) {
    trace += d[i][i];
    for (int j = 0; j < n; j++) sum += d[i][j] * (i - j);
  }
  printf("%.1f %.1f\n", trace, sum);
  free(a);
  free(d);
  return 0;
}
