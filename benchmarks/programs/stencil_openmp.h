// A stencil on an n x n x n grid with fixed borders: whoever includes this defines RADIUS, SIDE,
// ITERATIONS and UPDATED.
#include <omp.h>

#include "common.h"

static void sweep(int n, double (*from)[n][n], double (*to)[n][n]) {
#pragma omp parallel for
  for (int i = RADIUS; i < n - RADIUS; i++)
    for (int j = RADIUS; j < n - RADIUS; j++)
      for (int k = RADIUS; k < n - RADIUS; k++)
        to[i][j][k] = UPDATED(from, i, j, k);
}

static double checksum(int n, double (*a)[n][n]) {
  double *sums = allocate(n, sizeof *sums), sum = 0;
#pragma omp parallel for
  for (int i = RADIUS; i < n - RADIUS; i++) {
    sums[i] = 0;
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        sums[i] += a[i][j][k];
  }
  for (int i = RADIUS; i < n - RADIUS; i++)
    sum += sums[i];
  free(sums);
  return sum;
}

int main(int argc, char **argv) {
  int n = number(argc, argv, 1, SIDE, 2 * RADIUS + 1);
  int iterations = number(argc, argv, 2, ITERATIONS, 1);
  double (*from)[n][n] = allocate((size_t)n * n * n, sizeof(double));
  double (*to)[n][n] = allocate((size_t)n * n * n, sizeof(double));
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        from[i][j][k] = to[i][j][k] = (i * 7 + j * 13 + k * 17) % 101 / 101.0;

  double start = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = omp_get_wtime();
    sweep(n, from, to);
    double (*swap)[n][n] = from;
    from = to;
    to = swap;
  }
  double seconds = omp_get_wtime() - start;
  print_result(seconds, iterations, checksum(n, from));
  free(to);
  free(from);
  return 0;
}
