// Gaussian elimination on rows behind pointers: the loops begin at a variable, in a type that may overflow, and all rows read
// one that a loop before has written.
// opt: -O2
#include <stdio.h>
#include <stdlib.h>

enum { N = 90 };

static double **rows(int n) {
  double **table = malloc(n * sizeof *table);
  for (int i = 0; i < n; i++) table[i] = calloc(n, sizeof(double));
  return table;
}

int main(void) {
  int n = N;
  double **m = rows(n), **l = rows(n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) m[i][j] = i == j ? 100.0 : 1.0 + (i * j) % 7;
  for (int k = 0; k < n - 1; k++) {
    // Some rounds deal the rows out one by one.
    if (k % 3 == 0) {
#pragma omp parallel for schedule(static, 1)
      for (int i = k + 1; i < n; i++) {
        l[i][k] = m[i][k] / m[k][k];
        for (int j = k + 1; j < n; j++) m[i][j] = m[i][j] - l[i][k] * m[k][j];
      }
    } else {
#pragma omp parallel for
      for (int i = k + 1; i < n; i++) {
        double f = m[i][k] / m[k][k];
        l[i][k] = f;
        for (int j = k; j < n; j++) m[i][j] -= f * m[k][j];
      }
    }
  }
  double sums[2] = {0, 0};
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      sums[0] += m[i][j] * (1 + (i + j) % 5);
      sums[1] += l[i][j] * (1 + (i + 2 * j) % 5);
    }
  printf("%.17g %.17g\n", sums[0], sums[1]);
  for (int i = 0; i < n; i++) free(m[i]), free(l[i]);
  free(m);
  free(l);
  return 0;
}
