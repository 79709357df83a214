// Kernels that are plain OpenMP; kernels.cu has the same ones as CUDA C++, written by hand.

#include "kernels.h"

// A sweep of Jacobi's over a grid with a border.
void sweep(const int n, const double *now, double *next) {
#pragma omp parallel for collapse(2)
  for (int y = 1; y <= n; ++y) {
    for (int x = 1; x <= n; ++x) {
      const int at = y * (n + 2) + x;
      next[at] = 0.25 * (now[at - 1] + now[at + 1] + now[at - n - 2] + now[at + n + 2]);
    }
  }
}

// How far two grids are from each other.
double distance(const int n, const double *now, const double *next) {
  double sum = 0.0;
#pragma omp parallel for reduction(+ : sum)
  for (int at = 0; at < n; ++at) {
    const double by = next[at] - now[at];
    sum += by * by;
  }
  return sum;
}
