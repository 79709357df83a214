// Conjugate gradients on a sparse matrix in compressed rows. Blocks of rows; since every rank's
// rows reach into nearly all of the vector, all ranks gather all of it. An iteration is an inverse
// power step: STEPS steps of the solver, then the solution, normalised, is the next right-hand side.
#include <math.h>

#include "../mpi_common.h"
#include "matrix.h"

enum { STEPS = 25 };

static int *counts, *starts;

static double dot(const double *x, const double *y, int n) {
  double part = 0, sum;
  for (int i = 0; i < n; i++)
    part += x[i] * y[i];
  MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

// `all` has room for the whole vector; `p` is this rank's part of it.
static void solve(const struct matrix *m, const double *b, double *x, double *r, double *p,
                  double *q, double *all) {
  int n = m->rows;
  for (int i = 0; i < n; i++) {
    x[i] = 0;
    r[i] = p[i] = b[i];
  }
  double rr = dot(r, r, n);
  for (int step = 0; step < STEPS; step++) {
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DOUBLE, all, counts, starts, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
      double sum = 0;
      for (int k = m->start[i]; k < m->start[i + 1]; k++)
        sum += m->value[k] * all[m->column[k]];
      q[i] = sum;
    }
    double alpha = rr / dot(p, q, n);
    double part = 0, next;
    for (int i = 0; i < n; i++) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
      part += r[i] * r[i];
    }
    MPI_Allreduce(&part, &next, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    double beta = next / rr;
    rr = next;
    for (int i = 0; i < n; i++)
      p[i] = r[i] + beta * p[i];
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int n = number(argc, argv, 1, 150000, 2);
  int iterations = number(argc, argv, 2, 5, 1);
  int rank = my_rank(), ranks = all_ranks();
  struct share mine = share_of(n, rank, ranks);
  int rows = mine.count;
  counts = allocate(ranks, sizeof *counts);
  starts = allocate(ranks, sizeof *starts);
  for (int other = 0; other < ranks; other++) {
    struct share theirs = share_of(n, other, ranks);
    counts[other] = theirs.count;
    starts[other] = theirs.first;
  }
  struct matrix m = new_matrix(rows);
  double *b = allocate(rows, sizeof *b), *x = allocate(rows, sizeof *x),
         *r = allocate(rows, sizeof *r), *q = allocate(rows, sizeof *q),
         *all = allocate(n, sizeof *all), *p = all + mine.first;
  for (int i = 0; i < rows; i++) {
    fill_row(&m, i, mine.first + i, n);
    b[i] = 1 + (mine.first + i) % 3;
  }
  m.start[rows] = rows * ROW;

  double start = 0, norm = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = start_clock();
    solve(&m, b, x, r, p, q, all);
    norm = sqrt(dot(x, x, rows));
    for (int i = 0; i < rows; i++)
      b[i] = x[i] / norm;
  }
  double seconds = stop_clock(start);

  double part = 0, sum = 0;
  for (int i = 0; i < rows; i++)
    part += b[i] * (1 + (mine.first + i) % 7);
  MPI_Reduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    print_result(seconds, iterations, norm + sum);
  free(all);
  free(q);
  free(r);
  free(x);
  free(b);
  free_matrix(&m);
  free(starts);
  free(counts);
  MPI_Finalize();
  return 0;
}
