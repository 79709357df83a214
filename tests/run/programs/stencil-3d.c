// A seven-point stencil in three dimensions, alternating directions of the partition.
// threads: any
#include <stdio.h>

enum { n = 26 };
static float a[n][n][n], b[n][n][n];

int main(void) {
#pragma omp parallel
  {
#pragma omp for collapse(3)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++) a[i][j][k] = (float)((i * j + k) % 9);
    for (int t = 0; t < 6; t++) {
#pragma omp for
      for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
          for (int k = 1; k < n - 1; k++)
            b[i][j][k] = (a[i - 1][j][k] + a[i + 1][j][k] + a[i][j - 1][k] + a[i][j + 1][k] +
                          a[i][j][k - 1] + a[i][j][k + 1] + 2 * a[i][j][k]) *
                         0.125f;
#pragma omp for
      for (int k = 1; k < n - 1; k++)
        for (int j = 1; j < n - 1; j++)
          for (int i = 1; i < n - 1; i++) a[i][j][k] = b[i][j][k];
    }
  }
  double sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) sum += a[i][j][k] * (i + 1);
  printf("%.10g\n", sum);
  return 0;
}
