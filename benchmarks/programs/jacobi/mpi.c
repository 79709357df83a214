// Jacobi iteration for the Laplace equation on an n x n grid with fixed borders:
// blocks of rows, border rows exchanged while the inner ones are computed.
#include "../mpi_common.h"

// Rows first ... last-1 of the block; row 0 and the one after the block are the neighbours'.
static void sweep(const double *from, double *to, int n, int first, int last) {
  for (int i = first; i < last; i++)
    for (int j = 1; j < n - 1; j++)
      to[i * n + j] = 0.25 * (from[(i - 1) * n + j] + from[(i + 1) * n + j] +
                              from[i * n + j - 1] + from[i * n + j + 1]);
}

static double checksum(const double *a, int n, int rows) {
  double *sums = allocate(rows, sizeof *sums);
  for (int i = 1; i <= rows; i++) {
    sums[i - 1] = 0;
    for (int j = 0; j < n; j++)
      sums[i - 1] += a[i * n + j];
  }
  double sum = sum_in_order(sums, rows);
  free(sums);
  return sum;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int n = number(argc, argv, 1, 1002, 3);
  int iterations = number(argc, argv, 2, 2000, 1);
  int rank = my_rank(), ranks = all_ranks();
  struct share mine = share_of(n - 2, rank, ranks);
  int rows = mine.count;
  int above = rank > 0 && rows > 0 ? rank - 1 : MPI_PROC_NULL;
  int below =
      rank + 1 < ranks && share_of(n - 2, rank + 1, ranks).count > 0 ? rank + 1 : MPI_PROC_NULL;

  size_t cells = (size_t)(rows + 2) * n;
  double *from = allocate(cells, sizeof *from), *to = allocate(cells, sizeof *to);
  for (int i = 0; i < rows + 2; i++)
    for (int j = 0; j < n; j++)
      from[i * n + j] = to[i * n + j] = ((mine.first + i) * 7 + j * 13) % 101 / 101.0;

  double start = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = start_clock();
    MPI_Request requests[4];
    MPI_Irecv(from + 1, n - 2, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(from + (rows + 1) * n + 1, n - 2, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(from + n + 1, n - 2, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(from + rows * n + 1, n - 2, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, &requests[3]);
    sweep(from, to, n, 2, rows);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    if (rows > 0)
      sweep(from, to, n, 1, 2);
    if (rows > 1)
      sweep(from, to, n, rows, rows + 1);
    double *swap = from;
    from = to;
    to = swap;
  }
  double seconds = stop_clock(start);
  double sum = checksum(from, n, rows);
  if (rank == 0)
    print_result(seconds, iterations, sum);
  free(to);
  free(from);
  MPI_Finalize();
  return 0;
}
