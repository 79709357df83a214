#include "solver.h"

double grid[N][N], next[N][N], force[N][N];
static double change;

double sweep(void) {
#pragma omp single
  change = 0;
#pragma omp for reduction(+ : change)
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++) {
      next[i][j] = 0.25 * (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]) + force[i][j];
      double slope = next[i][j] - grid[i][j];
      change += slope < 0 ? -slope : slope;
    }
  return change;
}

// Each turn calls into the third file.
void flux(int step) {
#pragma omp for
  for (int j = 1; j < N - 1; j++)
    for (int i = 1; i < N - 1; i++) {
      double value = grid[i][j] + limiter(next[i][j] - grid[i][j]);
      if (value > 1e10)
        bail_out("flux", value, step);
      grid[i][j] = value;
    }
}

void load(double amount) {
#pragma omp for
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      force[i][j] = amount * 1e-3 * limiter((i - j) * 0.01);
}
