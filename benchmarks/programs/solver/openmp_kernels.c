// The loops of the solver: conjugate gradients for (1 - div k grad) heat = old heat + source.
#include "openmp_kernels.h"
#include "solver.h"

int n;
double *heat, *residual, *direction, *image, *conductivity;

// Each is set to 0 and summed up between barriers, with a barrier of the other's in between.
static double of_product, of_residual;

void set_up(void) {
  int line = n + 2;
#pragma omp for
  for (int i = 0; i < line; i++)
    for (int j = 0; j < line; j++) {
      int at = i * line + j;
      heat[at] = residual[at] = direction[at] = image[at] = 0;
      conductivity[at] = conductivity_at(i, j);
    }
}

// image = (1 - div k grad) from, at one point.
static inline double applied(const double *from, int at, int line) {
  double k = conductivity[at];
  return from[at] + (k + conductivity[at - line]) * (from[at] - from[at - line]) +
         (k + conductivity[at + line]) * (from[at] - from[at + line]) +
         (k + conductivity[at - 1]) * (from[at] - from[at - 1]) +
         (k + conductivity[at + 1]) * (from[at] - from[at + 1]);
}

double begin_step(void) {
  int line = n + 2;
#pragma omp single
  of_residual = 0;
#pragma omp for reduction(+ : of_residual)
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= n; j++) {
      int at = i * line + j;
      residual[at] = heat[at] + source_at(n, i, j) - applied(heat, at, line);
      direction[at] = residual[at];
      of_residual += residual[at] * residual[at];
    }
  return of_residual;
}

double product(void) {
  int line = n + 2;
#pragma omp single
  of_product = 0;
#pragma omp for reduction(+ : of_product)
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= n; j++) {
      int at = i * line + j;
      image[at] = applied(direction, at, line);
      of_product += direction[at] * image[at];
    }
  return of_product;
}

double descend(double alpha) {
  int line = n + 2;
#pragma omp single
  of_residual = 0;
#pragma omp for reduction(+ : of_residual)
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= n; j++) {
      int at = i * line + j;
      heat[at] += alpha * direction[at];
      residual[at] -= alpha * image[at];
      of_residual += residual[at] * residual[at];
    }
  return of_residual;
}

void turn(double beta) {
  int line = n + 2;
#pragma omp for
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= n; j++) {
      int at = i * line + j;
      direction[at] = residual[at] + beta * direction[at];
    }
}
