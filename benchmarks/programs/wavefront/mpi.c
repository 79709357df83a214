// Symmetric Gauss-Seidel sweeps over a grid: blocks of rows. After each block of columns the last row's part goes to
// the next rank, on the way back the first row's part to the one before.
#include "../mpi_common.h"
#include "wave.h"

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int n = number(argc, argv, 1, 2000, 1);
  int iterations = number(argc, argv, 2, 20, 1);
  int rank = my_rank(), ranks = all_ranks();
  struct share mine = share_of(n, rank, ranks);
  int line = n + 2, rows = mine.count, blocks = (n + WIDTH - 1) / WIDTH;
  int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
  double *u = allocate((size_t)(rows + 2) * line, sizeof *u);
  double *below = u + (size_t)(rows + 1) * line;
  MPI_Request *sends = allocate(blocks, sizeof *sends);
  for (int i = 0; i < rows + 2; i++)
    for (int j = 0; j < line; j++)
      u[i * line + j] = initial(mine.first + i, j);

  // What is old in a row next to this rank's was sent when it was new, in the sweep before.
  double start = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = start_clock();
    for (int block = 0; block < blocks; block++) {
      int first = 1 + block * WIDTH, end = block_end(n, block), count = end - first + 1;
      MPI_Recv(u + first, count, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int i = 1; i <= rows; i++)
        for (int j = first; j <= end; j++)
          u[i * line + j] = relaxed(u, i * line + j, line);
      MPI_Isend(u + rows * line + first, count, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &sends[block]);
    }
    MPI_Waitall(blocks, sends, MPI_STATUSES_IGNORE);
    for (int block = blocks - 1; block >= 0; block--) {
      int first = 1 + block * WIDTH, end = block_end(n, block), count = end - first + 1;
      MPI_Recv(below + first, count, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int i = rows; i >= 1; i--)
        for (int j = end; j >= first; j--)
          u[i * line + j] = relaxed(u, i * line + j, line);
      MPI_Isend(u + line + first, count, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &sends[block]);
    }
    MPI_Waitall(blocks, sends, MPI_STATUSES_IGNORE);
  }
  double seconds = stop_clock(start);
  double *sums = allocate(rows, sizeof *sums);
  for (int i = 0; i < rows; i++) {
    sums[i] = 0;
    for (int j = 0; j < n; j++)
      sums[i] += u[(i + 1) * line + j + 1] * (1 + (mine.first + i + 3 * j) % 7);
  }
  double sum = sum_in_order(sums, rows);
  if (rank == 0)
    print_result(seconds, iterations, sum);
  free(sums);
  free(sends);
  free(u);
  MPI_Finalize();
  return 0;
}
