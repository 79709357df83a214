// The Fourier transform of an n x n image, again and again: rows, transpose, rows, transpose.
// Blocks of rows; a transpose packs transposed blocks and exchanges them all at once.
#include <string.h>

#include "../mpi_common.h"
#include "fft.h"

static struct complex *out, *in;
static int *counts, *starts;  // in doubles, of the blocks for and from each rank

static void transform_rows(const struct transform *t, struct complex *a, int rows) {
  for (int i = 0; i < rows; i++)
    transform_line(t, a + i * t->n);
}

static void transpose(const struct complex *from, struct complex *to, int n, int rows) {
  int ranks = all_ranks();
  for (int other = 0; other < ranks; other++) {
    struct share theirs = share_of(n, other, ranks);
    struct complex *block = out + theirs.first * rows;
    for (int i = 0; i < theirs.count; i++)
      for (int j = 0; j < rows; j++)
        block[i * rows + j] = from[j * n + theirs.first + i];
  }
  MPI_Alltoallv(out, counts, starts, MPI_DOUBLE, in, counts, starts, MPI_DOUBLE, MPI_COMM_WORLD);
  for (int other = 0; other < ranks; other++) {
    struct share theirs = share_of(n, other, ranks);
    const struct complex *block = in + theirs.first * rows;
    for (int i = 0; i < rows; i++)
      memcpy(to + i * n + theirs.first, block + i * theirs.count, theirs.count * sizeof *to);
  }
}

static double checksum(const struct complex *a, int n, struct share mine) {
  double *sums = allocate(mine.count, sizeof *sums);
  for (int row = 0; row < mine.count; row++) {
    int i = mine.first + row;
    sums[row] = 0;
    for (int j = 0; j < n; j++)
      sums[row] +=
          a[row * n + j].re * (1 + (i + 3 * j) % 7) + a[row * n + j].im * (1 + (5 * i + j) % 11);
  }
  double sum = sum_in_order(sums, mine.count);
  free(sums);
  return sum;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int n = line_length(argc, argv, 1, 1024);
  int iterations = number(argc, argv, 2, 10, 1);
  int rank = my_rank(), ranks = all_ranks();
  struct share mine = share_of(n, rank, ranks);
  int rows = mine.count;
  counts = allocate(ranks, sizeof *counts);
  starts = allocate(ranks, sizeof *starts);
  for (int other = 0; other < ranks; other++) {
    struct share theirs = share_of(n, other, ranks);
    counts[other] = 2 * theirs.count * rows;
    starts[other] = 2 * theirs.first * rows;
  }
  size_t cells = (size_t)rows * n;
  out = allocate(cells, sizeof *out);
  in = allocate(cells, sizeof *in);
  struct transform t = new_transform(n);
  struct complex *image = allocate(cells, sizeof *image), *turned = allocate(cells, sizeof *turned);
  for (int row = 0; row < rows; row++)
    for (int j = 0; j < n; j++) {
      int i = mine.first + row;
      image[row * n + j] = (struct complex){(i * 7 + j * 13) % 101 / 101.0, (i + j) % 3};
      turned[row * n + j] = (struct complex){0, 0};
    }

  double start = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = start_clock();
    transform_rows(&t, image, rows);
    transpose(image, turned, n, rows);
    transform_rows(&t, turned, rows);
    transpose(turned, image, n, rows);
  }
  double seconds = stop_clock(start);
  double sum = checksum(image, n, mine);
  if (rank == 0)
    print_result(seconds, iterations, sum);
  free(turned);
  free(image);
  free_transform(&t);
  free(in);
  free(out);
  free(starts);
  free(counts);
  MPI_Finalize();
  return 0;
}
