// Row sweeps and column sweeps with recurrences: the partition changes twice in each step.
// threads: any
#include <stdio.h>

enum { n = 150 };
static double x[n][n], a[n][n];

int main(void) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        x[i][j] = (i + j) % 10;
        a[i][j] = 1.0 / (2 + (i * j) % 3);
      }
    for (int t = 0; t < 4; t++) {
#pragma omp for
      for (int i = 0; i < n; i++)
        for (int j = 1; j < n; j++) x[i][j] -= x[i][j - 1] * a[i][j] * 0.5;
#pragma omp for
      for (int j = 0; j < n; j++)
        for (int i = 1; i < n; i++) x[i][j] -= x[i - 1][j] * a[i][j] * 0.5;
    }
  }
  double sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) sum += x[i][j] * (i - j);
  printf("%.17g\n", sum);
  return 0;
}
