// What a multigrid cycle for the Poisson equation does to one row of an n x n grid. Pointers are to
// the row's border cell; rows above and below lie n cells before and after. Right-hand sides are
// multiplied by the square of the grid's spacing.
#ifndef ROWS_H
#define ROWS_H

#include "../common.h"

// A step of damped Jacobi.
static inline void smooth_row(int n, const double *u, const double *f, double *to) {
  for (int j = 1; j < n - 1; j++)
    to[j] = 0.2 * u[j] + 0.2 * (u[j - n] + u[j + n] + u[j - 1] + u[j + 1] + f[j]);
}

static inline void residual_row(int n, const double *u, const double *f, double *r) {
  for (int j = 1; j < n - 1; j++)
    r[j] = f[j] + u[j - n] + u[j + n] + u[j - 1] + u[j + 1] - 4 * u[j];
}

// `r` is the row of the finer grid, of 2n - 1 columns, under row `f`. Starts `u` at 0.
static inline void restrict_row(int n, const double *r, double *f, double *u) {
  int m = 2 * n - 1;
  for (int j = 1; j < n - 1; j++) {
    const double *c = r + 2 * j;
    f[j] = c[0] + 0.5 * (c[-1] + c[1] + c[-m] + c[m]) +
           0.25 * (c[-m - 1] + c[-m + 1] + c[m - 1] + c[m + 1]);
    u[j] = 0;
  }
}

// Adds the correction of the coarser grid, of n / 2 + 1 columns: `even` rows lie on its row `c`,
// others between it and the next.
static inline void correct_row(int n, int even, const double *c, double *u) {
  int m = n / 2 + 1;
  if (even)
    for (int j = 1; j < n - 1; j++)
      u[j] += j % 2 ? 0.5 * (c[j / 2] + c[j / 2 + 1]) : c[j / 2];
  else
    for (int j = 1; j < n - 1; j++)
      u[j] += j % 2 ? 0.25 * (c[j / 2] + c[j / 2 + 1] + c[m + j / 2] + c[m + j / 2 + 1])
                    : 0.5 * (c[j / 2] + c[m + j / 2]);
}

// The right-hand side on the finest grid.
static inline double source(int i, int j) { return (i * 7 + j * 13) % 101 / 50.0 - 1; }

#endif
