// Conjugate gradients on a sparse matrix in compressed rows, accessed through its column indices.
// An iteration is an inverse power step: STEPS steps of the solver, then the solution, normalised,
// is the next right-hand side.
#include <math.h>
#include <omp.h>

#include "matrix.h"

enum { STEPS = 25 };

static double dot(const double *x, const double *y, int n) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++)
    sum += x[i] * y[i];
  return sum;
}

static void solve(const struct matrix *m, const double *b, double *x, double *r, double *p,
                  double *q) {
  int n = m->rows;
  const int *start = m->start, *column = m->column;
  const double *value = m->value;
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    x[i] = 0;
    r[i] = p[i] = b[i];
  }
  double rr = dot(r, r, n);
  for (int step = 0; step < STEPS; step++) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
      double sum = 0;
      for (int k = start[i]; k < start[i + 1]; k++)
        sum += value[k] * p[column[k]];
      q[i] = sum;
    }
    double alpha = rr / dot(p, q, n);
    double next = 0;
#pragma omp parallel for reduction(+ : next)
    for (int i = 0; i < n; i++) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
      next += r[i] * r[i];
    }
    double beta = next / rr;
    rr = next;
#pragma omp parallel for
    for (int i = 0; i < n; i++)
      p[i] = r[i] + beta * p[i];
  }
}

int main(int argc, char **argv) {
  int n = number(argc, argv, 1, 150000, 2);
  int iterations = number(argc, argv, 2, 5, 1);
  struct matrix m = new_matrix(n);
  double *b = allocate(n, sizeof *b), *x = allocate(n, sizeof *x), *r = allocate(n, sizeof *r),
         *p = allocate(n, sizeof *p), *q = allocate(n, sizeof *q);
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    fill_row(&m, i, i, n);
    b[i] = 1 + i % 3;
  }
  m.start[n] = n * ROW;

  double start = 0, norm = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = omp_get_wtime();
    solve(&m, b, x, r, p, q);
    norm = sqrt(dot(x, x, n));
#pragma omp parallel for
    for (int i = 0; i < n; i++)
      b[i] = x[i] / norm;
  }
  double seconds = omp_get_wtime() - start;

  double sum = norm;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++)
    sum += b[i] * (1 + i % 7);
  print_result(seconds, iterations, sum);
  free(q);
  free(p);
  free(r);
  free(x);
  free(b);
  free_matrix(&m);
  return 0;
}
