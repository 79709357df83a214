// Multigrid for the Poisson equation on a square with borders at zero: V-cycles on grids of
// 2^levels + 1 points a side.
#include <omp.h>

#include "rows.h"

struct level {
  int n;
  double *u, *f, *scratch;
};

static double *new_grid(int n) {
  double *a = allocate((size_t)n * n, sizeof *a);
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i * n + j] = 0;
  return a;
}

static void smooth(int n, const double *u, const double *f, double *to) {
#pragma omp parallel for
  for (int i = 1; i < n - 1; i++)
    smooth_row(n, u + i * n, f + i * n, to + i * n);
}

static void residual(int n, const double *u, const double *f, double *r) {
#pragma omp parallel for
  for (int i = 1; i < n - 1; i++)
    residual_row(n, u + i * n, f + i * n, r + i * n);
}

static void restrict_residual(int n, const double *r, double *f, double *u) {
#pragma omp parallel for
  for (int i = 1; i < n - 1; i++)
    restrict_row(n, r + 2 * i * (2 * n - 1), f + i * n, u + i * n);
}

static void correct(int n, const double *coarse, double *u) {
#pragma omp parallel for
  for (int i = 1; i < n - 1; i++)
    correct_row(n, i % 2 == 0, coarse + i / 2 * (n / 2 + 1), u + i * n);
}

static void cycle(struct level *level) {
  int n = level->n;
  double *u = level->u, *f = level->f, *scratch = level->scratch;
  if (n == 3) {
    u[4] = f[4] / 4;
    return;
  }
  smooth(n, u, f, scratch);
  smooth(n, scratch, f, u);
  residual(n, u, f, scratch);
  restrict_residual(n / 2 + 1, scratch, level[1].f, level[1].u);
  cycle(level + 1);
  correct(n, level[1].u, u);
  smooth(n, u, f, scratch);
  smooth(n, scratch, f, u);
}

static double checksum(const double *a, int n) {
  double *sums = allocate(n, sizeof *sums), sum = 0;
#pragma omp parallel for
  for (int i = 1; i < n - 1; i++) {
    sums[i] = 0;
    for (int j = 1; j < n - 1; j++)
      sums[i] += a[i * n + j] * (1 + (i + 3 * j) % 7);
  }
  for (int i = 1; i < n - 1; i++)
    sum += sums[i];
  free(sums);
  return sum;
}

int main(int argc, char **argv) {
  int levels = number(argc, argv, 1, 10, 1);
  int iterations = number(argc, argv, 2, 40, 1);
  struct level *level = allocate(levels, sizeof *level);
  for (int l = 0; l < levels; l++) {
    int n = (1 << (levels - l)) + 1;
    level[l] = (struct level){n, new_grid(n), new_grid(n), new_grid(n)};
  }
  int n = level[0].n;
  double *f = level[0].f;
#pragma omp parallel for
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      f[i * n + j] = source(i, j);

  double start = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = omp_get_wtime();
    cycle(level);
  }
  double seconds = omp_get_wtime() - start;
  print_result(seconds, iterations, checksum(level[0].u, n));
  for (int l = 0; l < levels; l++) {
    free(level[l].u);
    free(level[l].f);
    free(level[l].scratch);
  }
  free(level);
  return 0;
}
