// Columns of a matrix written with a stride, then its transpose, then rows of the result.
// threads: any
#include <stdio.h>

enum { n = 200 };
static double a[n][n], t[n][n];

int main(void) {
  for (int round = 0; round < 2; round++) {
#pragma omp parallel
    {
#pragma omp for
      for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) a[i][j] += i * 3 - j;
#pragma omp for
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) t[j][i] = a[i][j];
#pragma omp for schedule(static, 1)
      for (int i = 0; i < n; i++)
        for (int j = 1; j < n; j++) t[i][j] += t[i][j - 1] * 0.5;
    }
  }
  double sum = 0;
  for (int i = 0; i < n; i++) sum += t[i][n - 1] * i + a[n - 1][i];
  printf("%.17g\n", sum);
  return 0;
}
