// Transposes an n x n matrix into another one, tile by tile, and adds a bias to each row, back and
// forth: blocks of rows. Each block for another rank is transposed while it is packed and sent at once; the
// rank's own block is done while the others are on their way.
#include <string.h>

#include "../mpi_common.h"
#include "tile.h"

// to[i][j] = from[j][i] + bias + i, for rows x columns numbers; the lengths of lines are in memory.
static void transpose(int rows, int columns, const double *from, int from_line, double *to,
                      int to_line, int bias) {
  for (int ii = 0; ii < rows; ii += TILE)
    for (int jj = 0; jj < columns; jj += TILE)
      for (int i = ii; i < least(ii + TILE, rows); i++)
        for (int j = jj; j < least(jj + TILE, columns); j++)
          to[i * to_line + j] = from[j * from_line + i] + (bias + i);
}

// Whole numbers: exact in any order.
static double checksum(const double *a, int n, struct share mine) {
  double part = 0, sum = 0;
  for (int i = 0; i < mine.count; i++)
    for (int j = 0; j < n; j++)
      part += a[i * n + j] * (1 + (mine.first + i + 3 * j) % 7);
  MPI_Reduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  return sum;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int n = number(argc, argv, 1, 2000, 1);
  int iterations = number(argc, argv, 2, 60, 1);
  int rank = my_rank(), ranks = all_ranks();
  struct share mine = share_of(n, rank, ranks);
  int rows = mine.count;
  size_t cells = (size_t)rows * n;
  double *from = allocate(cells, sizeof *from), *to = allocate(cells, sizeof *to);
  // Block after block of the other ranks.
  double *out = allocate(cells, sizeof *out), *in = allocate(cells, sizeof *in);
  MPI_Request *sends = allocate(ranks, sizeof *sends), *receives = allocate(ranks, sizeof *receives);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < n; j++) {
      from[i * n + j] = ((mine.first + i) * 7 + j * 13) % 101;
      to[i * n + j] = 0;
    }

  double start = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = start_clock();
    for (int other = 0; other < ranks; other++) {
      struct share theirs = share_of(n, other, ranks);
      receives[other] = MPI_REQUEST_NULL;
      if (other != rank)
        MPI_Irecv(in + theirs.first * rows, theirs.count * rows, MPI_DOUBLE, other, 0,
                  MPI_COMM_WORLD, &receives[other]);
    }
    sends[rank] = MPI_REQUEST_NULL;
    for (int turn = 1; turn < ranks; turn++) {
      int other = (rank + turn) % ranks;
      struct share theirs = share_of(n, other, ranks);
      double *block = out + theirs.first * rows;
      transpose(theirs.count, rows, from + theirs.first, n, block, rows, theirs.first);
      MPI_Isend(block, theirs.count * rows, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &sends[other]);
    }
    transpose(rows, rows, from + mine.first, n, to + mine.first, n, mine.first);
    for (int turn = 1; turn < ranks; turn++) {
      int other;
      MPI_Waitany(ranks, receives, &other, MPI_STATUS_IGNORE);
      struct share theirs = share_of(n, other, ranks);
      const double *block = in + theirs.first * rows;
      for (int i = 0; i < rows; i++)
        memcpy(to + i * n + theirs.first, block + i * theirs.count, theirs.count * sizeof *to);
    }
    MPI_Waitall(ranks, sends, MPI_STATUSES_IGNORE);
    double *swap = from;
    from = to;
    to = swap;
  }
  double seconds = stop_clock(start);
  double sum = checksum(from, n, mine);
  if (rank == 0)
    print_result(seconds, iterations, sum);
  free(receives);
  free(sends);
  free(in);
  free(out);
  free(to);
  free(from);
  MPI_Finalize();
  return 0;
}
