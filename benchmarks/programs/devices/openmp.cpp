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

// The same sweep, of which the rows alone are shared.
void rows(const int n, const double *now, double *next) {
#pragma omp parallel for
  for (int y = 1; y <= n; ++y) {
    for (int x = 1; x <= n; ++x) {
      const int at = y * (n + 2) + x;
      next[at] = 0.25 * (now[at - 1] + now[at + 1] + now[at - n - 2] + now[at + n + 2]);
    }
  }
}

// Diffusion in three directions.
void cube(const int n, const double *now, double *next) {
  const int pitch = n + 2, slice = pitch * pitch;
#pragma omp parallel for collapse(3)
  for (int z = 1; z <= n; ++z) {
    for (int y = 1; y <= n; ++y) {
      for (int x = 1; x <= n; ++x) {
        const int at = z * slice + y * pitch + x;
        const double around = now[at - 1] + now[at + 1] + now[at - pitch] + now[at + pitch] + now[at - slice] + now[at + slice];
        next[at] = now[at] + 0.1 * (around - 6.0 * now[at]);
      }
    }
  }
}

// Several sums at once.
Moments moments(const int n, const double *x, const double *y) {
  double first = 0.0, second = 0.0, third = 0.0;
#pragma omp parallel for reduction(+ : first, second, third)
  for (int at = 0; at < n; ++at) {
    first += x[at];
    second += x[at] * x[at];
    third += x[at] * y[at];
  }
  return {first, second, third};
}

// The least and the greatest number.
Extremes extremes(const int n, const double *x) {
  double least = x[0], most = x[0];
#pragma omp parallel for reduction(min : least) reduction(max : most)
  for (int at = 0; at < n; ++at) {
    least = x[at] < least ? x[at] : least;
    most = x[at] > most ? x[at] : most;
  }
  return {least, most};
}

void axpy(const int n, const double a, const double *x, double *y) {
#pragma omp parallel for
  for (int at = 0; at < n; ++at) y[at] += a * x[at];
}

// y = A x of a sparse matrix by rows.
void multiply(const int rows, const int *first, const int *column, const double *value, const double *x, double *y) {
#pragma omp parallel for
  for (int row = 0; row < rows; ++row) {
    double sum = 0.0;
    for (int at = first[row]; at < first[row + 1]; ++at) sum += value[at] * x[column[at]];
    y[row] = sum;
  }
}

// How often each number is there.
void histogram(const int n, const int *of, int *count) {
#pragma omp parallel for
  for (int at = 0; at < n; ++at) {
#pragma omp atomic
    count[of[at]]++;
  }
}
