// Sweeps along rows, then along columns: the owner of every element changes in each step.
// threads: any
#include <stdio.h>

enum { n = 200 };
static double a[n][n], t[n][n];

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) a[i][j] = (i * 13 + j * 7) % 31;
  for (int step = 0; step < 10; step++) {
#pragma omp parallel for
    for (int i = 0; i < n; i++)
      for (int j = 1; j < n; j++) a[i][j] = 0.5 * (a[i][j] + a[i][j - 1]);
#pragma omp parallel for
    for (int j = 0; j < n; j++)
      for (int i = 1; i < n; i++) a[i][j] = 0.5 * (a[i][j] + a[i - 1][j]);
#pragma omp parallel for
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) t[j][i] = a[i][j];
#pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) a[i][j] = t[i][j] + 1;
  }
  double sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) sum = sum * 0.9999 + a[i][j];
  printf("%.15g\n", sum);
  return 0;
}
