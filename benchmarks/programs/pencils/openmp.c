// The Fourier transform of an n x n x n cube, again and again: along each direction pencils are copied to a buffer of
// the thread's, transformed, and put back.
#include <omp.h>

#include "../fft/fft.h"

// How many neighbouring pencils are copied together: their lines of memory are used whole.
enum { TOGETHER = 8 };

// Along the innermost direction: pencils are lines of memory.
static void along_k(const struct transform *t, struct complex *cube) {
  int n = t->n;
#pragma omp parallel for collapse(2)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      transform_line(t, cube + ((size_t)i * n + j) * n);
}

// TOGETHER pencils from `from`, whose elements are `stride` apart.
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

static void along_j(const struct transform *t, struct complex *cube, int together) {
  int n = t->n;
#pragma omp parallel
  {
    struct complex buffer[TOGETHER * n];
#pragma omp for
    for (int i = 0; i < n; i++)
      for (int k = 0; k < n; k += together)
        pencils(t, cube + (size_t)i * n * n + k, n, together, buffer);
  }
}

static void along_i(const struct transform *t, struct complex *cube, int together) {
  int n = t->n;
#pragma omp parallel
  {
    struct complex buffer[TOGETHER * n];
#pragma omp for
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k += together)
        pencils(t, cube + (size_t)j * n + k, (size_t)n * n, together, buffer);
  }
}

static double checksum(const struct complex *cube, int n) {
  double *sums = allocate(n, sizeof *sums), sum = 0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    sums[i] = 0;
    for (int j = 0; j < n * n; j++) {
      struct complex z = cube[(size_t)i * n * n + j];
      sums[i] += z.re * (1 + (i + 3 * j) % 7) + z.im * (1 + (5 * i + j) % 11);
    }
  }
  for (int i = 0; i < n; i++)
    sum += sums[i];
  free(sums);
  return sum;
}

int main(int argc, char **argv) {
  int n = line_length(argc, argv, 1, 128);
  int iterations = number(argc, argv, 2, 10, 1);
  int together = n < TOGETHER ? n : TOGETHER;
  struct transform t = new_transform(n);
  struct complex *cube = allocate((size_t)n * n * n, sizeof *cube);
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n * n; j++)
      cube[(size_t)i * n * n + j] = (struct complex){(i * 7 + j * 13) % 101 / 101.0, (i + j) % 3};

  double start = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = omp_get_wtime();
    along_k(&t, cube);
    along_j(&t, cube, together);
    along_i(&t, cube, together);
  }
  double seconds = omp_get_wtime() - start;
  print_result(seconds, iterations, checksum(cube, n));
  free(cube);
  free_transform(&t);
  return 0;
}
