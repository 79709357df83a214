// Transposes an n x n matrix into another one, tile by tile, and adds a bias to each row, back and forth.
#include <omp.h>

#include "../common.h"
#include "tile.h"

static void transpose(const double *from, double *to, int n) {
#pragma omp parallel for
  for (int ii = 0; ii < n; ii += TILE)
    for (int jj = 0; jj < n; jj += TILE)
      for (int i = ii; i < least(ii + TILE, n); i++)
        for (int j = jj; j < least(jj + TILE, n); j++)
          to[i * n + j] = from[j * n + i] + i;
}

// Weighted, so that what lands in the wrong place shows. Whole numbers: exact in any order.
static double checksum(const double *a, int n) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      sum += a[i * n + j] * (1 + (i + 3 * j) % 7);
  return sum;
}

int main(int argc, char **argv) {
  int n = number(argc, argv, 1, 2000, 1);
  int iterations = number(argc, argv, 2, 60, 1);
  double *from = allocate((size_t)n * n, sizeof *from), *to = allocate((size_t)n * n, sizeof *to);
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      from[i * n + j] = (i * 7 + j * 13) % 101;
      to[i * n + j] = 0;
    }

  double start = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = omp_get_wtime();
    transpose(from, to, n);
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
