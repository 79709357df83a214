// ranks: 1 2 3 4
// opt: -O0 -O2
// flags: -lm
// compare: tolerance 1e-9
//
// Conjugate gradients on a sparse random matrix: kernel CG of the NAS parallel
// benchmarks, class S (order 1400), written from its published description.
// The matrix is a sum of outer products of sparse random vectors. Reductions
// of orphaned loops add in an order of their own, hence the tolerance.
#include "lcg46.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1400, NONZEROS = 7, OUTER = 15, INNER = 25 };
enum { LONGEST = NONZEROS + 1 };
static const double condition = 0.1, shift = 10, published = 8.5971775078648;

struct entry {
  int column;
  double value;
};
static struct entry *matrix;  // the rows one after the other
static int row_start[N + 1];

static double x[N], z[N], p[N], q[N], r[N];

// A vector with NONZEROS random entries at random places, and 0.5 at `own`.
static int sparse_vector(uint64_t *seed, int own, struct entry vector[LONGEST]) {
  int count = 0;
  while (count < NONZEROS) {
    double value = lcg_next(seed);
    int column = (int)(lcg_next(seed) * 2048);
    int seen = column >= N;
    for (int i = 0; i < count; i++)
      seen |= vector[i].column == column;
    if (!seen)
      vector[count++] = (struct entry){column, value};
  }
  for (int i = 0; i < count; i++)
    if (vector[i].column == own) {
      vector[i].value = 0.5;
      return count;
    }
  vector[count] = (struct entry){own, 0.5};
  return count + 1;
}

static void make_matrix(uint64_t seed) {
  struct entry(*vectors)[LONGEST] = malloc(N * sizeof *vectors);
  int *length = malloc(N * sizeof *length);
  for (int i = 0; i < N; i++)
    length[i] = sparse_vector(&seed, i, vectors[i]);

  // First how many entries each row has, then the entries themselves.
#pragma omp parallel
  {
    double *dense = malloc(N * sizeof *dense);
    char *used = malloc(N);
    for (int filling = 0; filling <= 1; filling++) {
#pragma omp for schedule(dynamic, 50)
      for (int row = 0; row < N; row++) {
        for (int i = 0; i < N; i++)
          dense[i] = used[i] = 0;
        double size = 1;
        for (int v = 0; v < N; v++, size *= pow(condition, 1.0 / N))
          for (int i = 0; i < length[v]; i++)
            if (vectors[v][i].column == row)
              for (int j = 0; j < length[v]; j++) {
                dense[vectors[v][j].column] += size * vectors[v][i].value * vectors[v][j].value;
                used[vectors[v][j].column] = 1;
              }
        dense[row] += condition - shift;
        int at = filling ? row_start[row] : 0;
        for (int i = 0; i < N; i++)
          if (used[i]) {
            if (filling)
              matrix[at] = (struct entry){i, dense[i]};
            at++;
          }
        if (!filling)
          row_start[row + 1] = at;
      }
#pragma omp single
      if (!filling) {
        for (int row = 0; row < N; row++)
          row_start[row + 1] += row_start[row];
        matrix = malloc(row_start[N] * sizeof *matrix);
      }
    }
    free(used);
    free(dense);
  }
  free(length);
  free(vectors);
}

// The functions below are orphaned: the region in main() runs them as a team.

static double dot(const double *a, const double *b) {
  static double sum;
#pragma omp single
  sum = 0;
#pragma omp for reduction(+ : sum)
  for (int i = 0; i < N; i++)
    sum += a[i] * b[i];
  double mine = sum;
#pragma omp barrier
  return mine;
}

static void multiply(const double *in, double *out) {
#pragma omp for
  for (int row = 0; row < N; row++) {
    double sum = 0;
    for (int k = row_start[row]; k < row_start[row + 1]; k++)
      sum += matrix[k].value * in[matrix[k].column];
    out[row] = sum;
  }
}

// Solves A z = x approximately and returns the norm of the residual.
static double conjugate_gradient(void) {
#pragma omp for
  for (int i = 0; i < N; i++) {
    q[i] = z[i] = 0;
    r[i] = p[i] = x[i];
  }
  double rho = dot(r, r);
  for (int step = 0; step < INNER; step++) {
    multiply(p, q);
    double alpha = rho / dot(p, q);
#pragma omp for
    for (int i = 0; i < N; i++) {
      z[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    double previous = rho;
    rho = dot(r, r);
#pragma omp for
    for (int i = 0; i < N; i++)
      p[i] = r[i] + rho / previous * p[i];
  }
  multiply(z, r);
#pragma omp for
  for (int i = 0; i < N; i++)
    r[i] = x[i] - r[i];
  return sqrt(dot(r, r));
}

int main(void) {
  uint64_t seed = 314159265;
  lcg_next(&seed);
  make_matrix(seed);

  double zeta = 0;
  for (int i = 0; i < N; i++)
    x[i] = 1;
#pragma omp parallel
  for (int step = 1; step <= OUTER; step++) {
    double residual = conjugate_gradient();
    double estimate = shift + 1 / dot(x, z);
    double length = sqrt(dot(z, z));
#pragma omp for
    for (int i = 0; i < N; i++)
      x[i] = z[i] / length;
#pragma omp master
    {
      zeta = estimate;
      printf("step %2d: residual below 1e-12: %s, zeta %.12f\n", step,
             residual < 1e-12 ? "yes" : "no", zeta);
    }
  }
  printf("CG class S: %d nonzeros, zeta %.13f\n", row_start[N], zeta);
  int right = fabs(zeta - published) / published <= 1e-10;
  printf("verification %s\n", right ? "successful" : "failed");
  free(matrix);
  return !right;
}
