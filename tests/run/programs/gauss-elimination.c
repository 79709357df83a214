// Gaussian elimination with partial pivoting: the pivot by a declared reduction, rows exchanged.
// threads: any
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct pivot {
  double size;
  int row;
};
#pragma omp declare reduction(largest : struct pivot : omp_out =                                   \
                                  omp_in.size > omp_out.size ||                                    \
                                          (omp_in.size == omp_out.size && omp_in.row < omp_out.row) \
                                      ? omp_in                                                     \
                                      : omp_out) initializer(omp_priv = {-1, 1 << 30})

int main(void) {
  enum { n = 80 };
  double **a = malloc(n * sizeof *a), x[n];
  for (int i = 0; i < n; i++) {
    a[i] = malloc((n + 1) * sizeof **a);
    for (int j = 0; j <= n; j++) a[i][j] = (i * 31 + j * 17 + i * j) % 23 - 11 + (i == j ? 3 : 0);
  }
  for (int k = 0; k < n; k++) {
    struct pivot best = {-1, 1 << 30};
#pragma omp parallel for reduction(largest : best)
    for (int i = k; i < n; i++)
      if (fabs(a[i][k]) > best.size) {
        best.size = fabs(a[i][k]);
        best.row = i;
      }
    double *row = a[best.row];
    a[best.row] = a[k];
    a[k] = row;
#pragma omp parallel for schedule(static, 4)
    for (int i = k + 1; i < n; i++) {
      double factor = a[i][k] / row[k];
      for (int j = k; j <= n; j++) a[i][j] -= factor * row[j];
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    double sum = a[i][n];
#pragma omp simd reduction(- : sum)
    for (int j = i + 1; j < n; j++) sum -= a[i][j] * x[j];
    x[i] = sum / a[i][i];
  }
  printf("%.10f %.10f %.10f\n", x[0], x[n / 2], x[n - 1]);
  for (int i = 0; i < n; i++) free(a[i]);
  free(a);
  return 0;
}
