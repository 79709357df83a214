// Multigrid for the Poisson equation on a square with borders at zero: V-cycles on grids of
// 2^levels + 1 points a side. Blocks of rows, a coarse row with the fine row it lies on; border rows
// are exchanged while the inner ones are computed. Grids too small to be worth messages are
// gathered, and every rank computes them whole.
#include <string.h>

#include "../mpi_common.h"
#include "rows.h"

// Rows `first` ... first + rows - 1 are this rank's; the arrays have one more on either side. On a
// gathered level all rows are everyone's.
struct level {
  int n, first, rows, gathered;
  double *u, *f, *scratch;
};

static int rank, ranks, above, below;

static double *new_grid(int rows, int n) {
  double *a = allocate((size_t)(rows + 2) * n, sizeof *a);
  memset(a, 0, (size_t)(rows + 2) * n * sizeof *a);
  return a;
}

// The rows of `who` on a grid that was made coarser `times` times from one of `n` rows.
static struct share rows_of(int n, int times, int who) {
  struct share finest = share_of(n - 2, who, ranks);
  int first = finest.first + 1, end = first + finest.count;
  for (int i = 0; i < times; i++) {
    first = (first + 1) / 2;
    end = (end + 1) / 2;
  }
  return (struct share){first, end - first};
}

static void start_exchange(const struct level *level, double *a, MPI_Request requests[4]) {
  int n = level->n, rows = level->rows;
  MPI_Irecv(a + 1, n - 2, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(a + (rows + 1) * n + 1, n - 2, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(a + n + 1, n - 2, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(a + rows * n + 1, n - 2, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, &requests[3]);
}

static void exchange(const struct level *level, double *a) {
  if (level->gathered)
    return;
  MPI_Request requests[4];
  start_exchange(level, a, requests);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

// Runs a step that reads the neighbours' rows of `u`.
static void with_neighbours(const struct level *level, double *u, const double *f, double *to,
                            void (*step)(int, const double *, const double *, double *)) {
  int n = level->n, rows = level->rows;
  if (level->gathered) {
    for (int i = 1; i <= rows; i++)
      step(n, u + i * n, f + i * n, to + i * n);
    return;
  }
  MPI_Request requests[4];
  start_exchange(level, u, requests);
  for (int i = 2; i < rows; i++)
    step(n, u + i * n, f + i * n, to + i * n);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  step(n, u + n, f + n, to + n);
  if (rows > 1)
    step(n, u + rows * n, f + rows * n, to + rows * n);
}

// All ranks' parts of the right-hand side of the first gathered level, `times` below the finest.
static void gather(struct level *level, int finest, int times) {
  int n = level->n, counts[ranks], starts[ranks];
  for (int other = 0; other < ranks; other++) {
    struct share theirs = rows_of(finest, times, other);
    counts[other] = theirs.count * n;
    starts[other] = theirs.first * n;
  }
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DOUBLE, level->f, counts, starts, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void cycle(struct level *finest, struct level *level) {
  int n = level->n;
  double *u = level->u, *f = level->f, *scratch = level->scratch;
  if (n == 3) {
    u[4] = f[4] / 4;
    return;
  }
  with_neighbours(level, u, f, scratch, smooth_row);
  with_neighbours(level, scratch, f, u, smooth_row);
  with_neighbours(level, u, f, scratch, residual_row);
  exchange(level, scratch);

  struct level *coarse = level + 1;
  int m = coarse->n, times = (int)(coarse - finest), leaving = coarse->gathered && !level->gathered;
  // On the first gathered level every rank restricts its own part.
  struct share part = leaving ? rows_of(finest->n, times, rank)
                              : (struct share){coarse->first, coarse->rows};
  for (int i = part.first; i < part.first + part.count; i++)
    restrict_row(m, scratch + (2 * i - level->first + 1) * n, coarse->f + (i - coarse->first + 1) * m,
                 coarse->u + (i - coarse->first + 1) * m);
  if (leaving) {
    gather(coarse, finest->n, times);
    memset(coarse->u, 0, (size_t)m * m * sizeof *u);
  }
  cycle(finest, coarse);
  exchange(coarse, coarse->u);
  for (int i = 1; i <= level->rows; i++) {
    int row = level->first + i - 1;
    correct_row(n, row % 2 == 0, coarse->u + (row / 2 - coarse->first + 1) * m, u + i * n);
  }
  with_neighbours(level, u, f, scratch, smooth_row);
  with_neighbours(level, scratch, f, u, smooth_row);
}

static double checksum(const struct level *level) {
  int n = level->n;
  double *sums = allocate(level->rows, sizeof *sums);
  for (int row = 0; row < level->rows; row++) {
    int i = level->first + row;
    sums[row] = 0;
    for (int j = 1; j < n - 1; j++)
      sums[row] += level->u[(row + 1) * n + j] * (1 + (i + 3 * j) % 7);
  }
  double sum = sum_in_order(sums, level->rows);
  free(sums);
  return sum;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int levels = number(argc, argv, 1, 10, 1);
  int iterations = number(argc, argv, 2, 40, 1);
  rank = my_rank();
  ranks = all_ranks();
  above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  struct level *level = allocate(levels, sizeof *level);
  int finest = (1 << levels) + 1;
  if (finest - 2 < 4 * ranks) {
    if (rank == 0)
      fprintf(stderr, "%s: %d rows are too few for %d ranks\n", argv[0], finest, ranks);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  for (int l = 0; l < levels; l++) {
    int n = (1 << (levels - l)) + 1;
    struct share mine = rows_of(finest, l, rank);
    int gathered = l > 0 && (n <= 33 || n - 2 < 4 * ranks);
    if (gathered)
      mine = (struct share){1, n - 2};
    level[l] = (struct level){n,
                              mine.first,
                              mine.count,
                              gathered,
                              new_grid(mine.count, n),
                              new_grid(mine.count, n),
                              new_grid(mine.count, n)};
  }
  for (int row = 0; row < level[0].rows; row++)
    for (int j = 1; j < finest - 1; j++)
      level[0].f[(row + 1) * finest + j] = source(level[0].first + row, j);

  double start = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = start_clock();
    cycle(level, level);
  }
  double seconds = stop_clock(start);
  double sum = checksum(&level[0]);
  if (rank == 0)
    print_result(seconds, iterations, sum);
  for (int l = 0; l < levels; l++) {
    free(level[l].u);
    free(level[l].f);
    free(level[l].scratch);
  }
  free(level);
  MPI_Finalize();
  return 0;
}
