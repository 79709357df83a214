// Multiplies a dense n x n matrix with a block of n vectors again and again: x = a x / n.
// Blocks of rows; every rank gathers all of x.
#include "../mpi_common.h"

static void multiply(int n, int rows, double (*a)[n], double (*x)[n], double (*y)[n]) {
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < n; j++)
      y[i][j] = 0;
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++)
        y[i][j] += a[i][k] * x[k][j];
    for (int j = 0; j < n; j++)
      y[i][j] /= n;
  }
}

static double checksum(int n, double (*a)[n], struct share mine) {
  double *sums = allocate(mine.count, sizeof *sums);
  for (int i = 0; i < mine.count; i++) {
    sums[i] = 0;
    for (int j = 0; j < n; j++)
      sums[i] += a[i][j] * (1 + (mine.first + i + 3 * j) % 7);
  }
  double sum = sum_in_order(sums, mine.count);
  free(sums);
  return sum;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int n = number(argc, argv, 1, 800, 1);
  int iterations = number(argc, argv, 2, 6, 1);
  int rank = my_rank(), ranks = all_ranks();
  struct share mine = share_of(n, rank, ranks);
  int rows = mine.count;
  double (*a)[n] = allocate((size_t)rows * n, sizeof(double));
  double (*y)[n] = allocate((size_t)rows * n, sizeof(double));
  double (*x)[n] = allocate((size_t)n * n, sizeof(double));
  int *counts = allocate(ranks, sizeof *counts), *starts = allocate(ranks, sizeof *starts);
  for (int other = 0; other < ranks; other++) {
    struct share theirs = share_of(n, other, ranks);
    counts[other] = theirs.count * n;
    starts[other] = theirs.first * n;
  }
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < n; j++) {
      a[i][j] = ((mine.first + i) * 7 + j * 13) % 101 / 50.0;
      y[i][j] = ((mine.first + i) * 3 + j * 5) % 103 / 51.0;
    }

  double start = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = start_clock();
    MPI_Allgatherv(y, rows * n, MPI_DOUBLE, x, counts, starts, MPI_DOUBLE, MPI_COMM_WORLD);
    multiply(n, rows, a, x, y);
  }
  double seconds = stop_clock(start);
  double sum = checksum(n, y, mine);
  if (rank == 0)
    print_result(seconds, iterations, sum);
  free(starts);
  free(counts);
  free(x);
  free(y);
  free(a);
  MPI_Finalize();
  return 0;
}
