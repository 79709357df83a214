// The Fourier transform of an n x n image, again and again: rows, transpose, rows, transpose.
#include <omp.h>

#include "fft.h"

static void transform_rows(const struct transform *t, struct complex *a) {
  int n = t->n;
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    transform_line(t, a + i * n);
}

static void transpose(const struct complex *from, struct complex *to, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      to[i * n + j] = from[j * n + i];
}

static double checksum(const struct complex *a, int n) {
  double *sums = allocate(n, sizeof *sums), sum = 0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    sums[i] = 0;
    for (int j = 0; j < n; j++)
      sums[i] += a[i * n + j].re * (1 + (i + 3 * j) % 7) + a[i * n + j].im * (1 + (5 * i + j) % 11);
  }
  for (int i = 0; i < n; i++)
    sum += sums[i];
  free(sums);
  return sum;
}

int main(int argc, char **argv) {
  int n = line_length(argc, argv, 1, 1024);
  int iterations = number(argc, argv, 2, 10, 1);
  struct transform t = new_transform(n);
  struct complex *image = allocate((size_t)n * n, sizeof *image),
                 *turned = allocate((size_t)n * n, sizeof *turned);
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      image[i * n + j] = (struct complex){(i * 7 + j * 13) % 101 / 101.0, (i + j) % 3};
      turned[i * n + j] = (struct complex){0, 0};
    }

  double start = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = omp_get_wtime();
    transform_rows(&t, image);
    transpose(image, turned, n);
    transform_rows(&t, turned);
    transpose(turned, image, n);
  }
  double seconds = omp_get_wtime() - start;
  print_result(seconds, iterations, checksum(image, n));
  free(turned);
  free(image);
  free_transform(&t);
  return 0;
}
