// The Fourier transform of an n x n x n cube, again and again: planes of the cube for the two inner directions, then
// planes across them for the outer one, and back.
#include <string.h>

#include "../fft/fft.h"
#include "../mpi_common.h"

enum { TOGETHER = 8 };

static void pencils(const struct transform *t, struct complex *from, size_t stride, int together,
                    struct complex *buffer) {
  int n = t->n;
  for (int at = 0; at < n; at++)
    for (int p = 0; p < together; p++)
      buffer[p * n + at] = from[at * stride + p];
  for (int p = 0; p < together; p++)
    transform_line(t, buffer + p * n);
  for (int at = 0; at < n; at++)
    for (int p = 0; p < together; p++)
      from[at * stride + p] = buffer[p * n + at];
}

static double checksum(const struct complex *cube, int n, struct share mine) {
  double *sums = allocate(mine.count, sizeof *sums);
  for (int i = 0; i < mine.count; i++) {
    sums[i] = 0;
    for (int j = 0; j < n * n; j++) {
      struct complex z = cube[(size_t)i * n * n + j];
      int plane = mine.first + i;
      sums[i] += z.re * (1 + (plane + 3 * j) % 7) + z.im * (1 + (5 * plane + j) % 11);
    }
  }
  double sum = sum_in_order(sums, mine.count);
  free(sums);
  return sum;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int n = line_length(argc, argv, 1, 128);
  int iterations = number(argc, argv, 2, 10, 1);
  int together = n < TOGETHER ? n : TOGETHER;
  int rank = my_rank(), ranks = all_ranks();
  struct share mine = share_of(n, rank, ranks);
  struct transform t = new_transform(n);
  size_t cells = (size_t)mine.count * n * n;
  // cube[i][j][k] with this rank's i; block after block of the other ranks; across[i][j][k] with this rank's j.
  struct complex *cube = allocate(cells, sizeof *cube), *packed = allocate(cells, sizeof *packed),
                 *across = allocate(cells, sizeof *across),
                 *buffer = allocate(TOGETHER * n, sizeof *buffer);
  int *counts = allocate(ranks, sizeof *counts), *starts = allocate(ranks, sizeof *starts);
  for (int other = 0; other < ranks; other++) {
    struct share theirs = share_of(n, other, ranks);
    counts[other] = theirs.count * mine.count * n * 2;
    starts[other] = theirs.first * mine.count * n * 2;
  }
  for (int i = 0; i < mine.count; i++)
    for (int j = 0; j < n * n; j++)
      cube[(size_t)i * n * n + j] = (struct complex){
          ((mine.first + i) * 7 + j * 13) % 101 / 101.0, (mine.first + i + j) % 3};

  double start = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = start_clock();
    for (int line = 0; line < mine.count * n; line++)
      transform_line(&t, cube + (size_t)line * n);
    for (int i = 0; i < mine.count; i++)
      for (int k = 0; k < n; k += together)
        pencils(&t, cube + (size_t)i * n * n + k, n, together, buffer);

    struct complex *next = packed;
    for (int other = 0; other < ranks; other++) {
      struct share theirs = share_of(n, other, ranks);
      for (int i = 0; i < mine.count; i++, next += theirs.count * n)
        memcpy(next, cube + ((size_t)i * n + theirs.first) * n, theirs.count * n * sizeof *next);
    }
    MPI_Alltoallv(packed, counts, starts, MPI_DOUBLE, across, counts, starts, MPI_DOUBLE,
                  MPI_COMM_WORLD);
    for (int j = 0; j < mine.count; j++)
      for (int k = 0; k < n; k += together)
        pencils(&t, across + (size_t)j * n + k, (size_t)mine.count * n, together, buffer);

    // The planes of another rank lie together there.
    MPI_Alltoallv(across, counts, starts, MPI_DOUBLE, packed, counts, starts, MPI_DOUBLE,
                  MPI_COMM_WORLD);
    next = packed;
    for (int other = 0; other < ranks; other++) {
      struct share theirs = share_of(n, other, ranks);
      for (int i = 0; i < mine.count; i++, next += theirs.count * n)
        memcpy(cube + ((size_t)i * n + theirs.first) * n, next, theirs.count * n * sizeof *next);
    }
  }
  double seconds = stop_clock(start), sum = checksum(cube, n, mine);
  if (rank == 0)
    print_result(seconds, iterations, sum);
  free(starts);
  free(counts);
  free(buffer);
  free(across);
  free(packed);
  free(cube);
  free_transform(&t);
  MPI_Finalize();
  return 0;
}
