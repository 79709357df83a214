// Multiplies a dense n x n matrix with a block of n vectors again and again: x = a x / n.
#include <omp.h>

#include "../common.h"

static void multiply(int n, double (*a)[n], double (*x)[n], double (*y)[n]) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++)
      y[i][j] = 0;
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++)
        y[i][j] += a[i][k] * x[k][j];
    for (int j = 0; j < n; j++)
      y[i][j] /= n;
  }
}

static double checksum(int n, double (*a)[n]) {
  double *sums = allocate(n, sizeof *sums), sum = 0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    sums[i] = 0;
    for (int j = 0; j < n; j++)
      sums[i] += a[i][j] * (1 + (i + 3 * j) % 7);
  }
  for (int i = 0; i < n; i++)
    sum += sums[i];
  free(sums);
  return sum;
}

int main(int argc, char **argv) {
  int n = number(argc, argv, 1, 800, 1);
  int iterations = number(argc, argv, 2, 6, 1);
  double (*a)[n] = allocate((size_t)n * n, sizeof(double));
  double (*x)[n] = allocate((size_t)n * n, sizeof(double));
  double (*y)[n] = allocate((size_t)n * n, sizeof(double));
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      a[i][j] = (i * 7 + j * 13) % 101 / 50.0;
      x[i][j] = (i * 3 + j * 5) % 103 / 51.0;
      y[i][j] = 0;
    }

  double start = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = omp_get_wtime();
    multiply(n, a, x, y);
    double (*swap)[n] = x;
    x = y;
    y = swap;
  }
  double seconds = omp_get_wtime() - start;
  print_result(seconds, iterations, checksum(n, x));
  free(y);
  free(x);
  free(a);
  return 0;
}
