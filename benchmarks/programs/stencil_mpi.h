// A stencil on an n x n x n grid with fixed borders: whoever includes this defines RADIUS, SIDE,
// ITERATIONS and UPDATED.
// Blocks of planes, border planes exchanged while the inner ones are computed.
#include "mpi_common.h"

// Planes first ... last-1 of the block; RADIUS planes on either side of it are the neighbours'.
static void sweep(int n, double (*from)[n][n], double (*to)[n][n], int first, int last) {
  for (int i = first; i < last; i++)
    for (int j = RADIUS; j < n - RADIUS; j++)
      for (int k = RADIUS; k < n - RADIUS; k++)
        to[i][j][k] = UPDATED(from, i, j, k);
}

static double checksum(int n, double (*a)[n][n], int planes) {
  double *sums = allocate(planes, sizeof *sums);
  for (int i = 0; i < planes; i++) {
    sums[i] = 0;
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        sums[i] += a[i + RADIUS][j][k];
  }
  double sum = sum_in_order(sums, planes);
  free(sums);
  return sum;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int n = number(argc, argv, 1, SIDE, 2 * RADIUS + 1);
  int iterations = number(argc, argv, 2, ITERATIONS, 1);
  int rank = my_rank(), ranks = all_ranks();
  struct share mine = share_of(n - 2 * RADIUS, rank, ranks);
  int planes = mine.count, halo = RADIUS * n * n;
  if (ranks > 1 && (n - 2 * RADIUS) / ranks < RADIUS) {
    if (rank == 0)
      fprintf(stderr, "%s: %d planes are too few for %d ranks\n", argv[0], n, ranks);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  int below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;

  size_t cells = (size_t)(planes + 2 * RADIUS) * n * n;
  double (*from)[n][n] = allocate(cells, sizeof(double));
  double (*to)[n][n] = allocate(cells, sizeof(double));
  for (int i = 0; i < planes + 2 * RADIUS; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        from[i][j][k] = to[i][j][k] = ((mine.first + i) * 7 + j * 13 + k * 17) % 101 / 101.0;

  // Only planes that are a whole RADIUS away from the neighbours' can be computed early.
  int early = 2 * RADIUS < planes ? 2 * RADIUS : planes + RADIUS;
  int late = planes > early ? planes : early;
  double start = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = start_clock();
    MPI_Request requests[4];
    MPI_Irecv(from[0], halo, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(from[planes + RADIUS], halo, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(from[RADIUS], halo, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(from[planes], halo, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, &requests[3]);
    sweep(n, from, to, early, late);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    sweep(n, from, to, RADIUS, early);
    sweep(n, from, to, late, planes + RADIUS);
    double (*swap)[n][n] = from;
    from = to;
    to = swap;
  }
  double seconds = stop_clock(start);
  double sum = checksum(n, from, planes);
  if (rank == 0)
    print_result(seconds, iterations, sum);
  free(to);
  free(from);
  MPI_Finalize();
  return 0;
}
