// Jacobi iteration for the Laplace equation on an n x n grid with fixed borders.
#include <omp.h>

#include "../common.h"

static void sweep(const double *from, double *to, int n) {
#pragma omp parallel for
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      to[i * n + j] = 0.25 * (from[(i - 1) * n + j] + from[(i + 1) * n + j] +
                              from[i * n + j - 1] + from[i * n + j + 1]);
}

static double checksum(const double *a, int n) {
  double *sums = allocate(n, sizeof *sums), sum = 0;
#pragma omp parallel for
  for (int i = 1; i < n - 1; i++) {
    sums[i] = 0;
    for (int j = 0; j < n; j++)
      sums[i] += a[i * n + j];
  }
  for (int i = 1; i < n - 1; i++)
    sum += sums[i];
  free(sums);
  return sum;
}

int main(int argc, char **argv) {
  int n = number(argc, argv, 1, 1002, 3);
  int iterations = number(argc, argv, 2, 2000, 1);
  double *from = allocate((size_t)n * n, sizeof *from), *to = allocate((size_t)n * n, sizeof *to);
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      from[i * n + j] = to[i * n + j] = (i * 7 + j * 13) % 101 / 101.0;

  double start = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = omp_get_wtime();
    sweep(from, to, n);
    double *swap = from;
    from = to;
    to = swap;
  }
  double seconds = omp_get_wtime() - start;
  print_result(seconds, iterations, checksum(from, n));
  free(to);
  free(from);
  return 0;
}
