// Conjugate gradients for a small Laplacian: matrix-vector products, dot products, vector updates.
// compare: tolerance 1e-9
#include <stdio.h>
#include <stdlib.h>

enum { m = 30, n = m * m };
static double x[n], r[n], p[n], q[n];

static double dot(const double *a, const double *b) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

int main(void) {
  for (int i = 0; i < n; i++) r[i] = p[i] = 1 + i % 3;
  double rho = dot(r, r);
  int iterations = 0;
  while (rho > 1e-12 && iterations < 200) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
      int row = i / m, column = i % m;
      q[i] = 4 * p[i];
      if (row > 0) q[i] -= p[i - m];
      if (row < m - 1) q[i] -= p[i + m];
      if (column > 0) q[i] -= p[i - 1];
      if (column < m - 1) q[i] -= p[i + 1];
    }
    double alpha = rho / dot(p, q);
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    double next = dot(r, r), beta = next / rho;
    rho = next;
#pragma omp parallel for
    for (int i = 0; i < n; i++) p[i] = r[i] + beta * p[i];
    iterations++;
  }
  printf("%d %.9f %.9f\n", rho <= 1e-12, x[0], x[n / 2]);
  return 0;
}
