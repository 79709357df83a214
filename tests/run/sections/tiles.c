// Tiled loops: sizes that tiles divide and others, tiles larger than all, sizes that are known only here, ranges that
// begin or end inside a tile, empty ranges, and tiles in loops that tiles are dealt out from.
// threads: any
#include <stdio.h>
#include <stdlib.h>

static inline int min(int a, int b) { return a < b ? a : b; }
static inline int max(int a, int b) { return a > b ? a : b; }

#define SIDES 53

static double *new_matrix(void) { return calloc(SIDES * SIDES, sizeof(double)); }

static double sum(const double *a, int n) {
  double all = 0;
  for (int i = 0; i < n * n; i++) all = 0.75 * all + a[i] * (1 + i % 5);
  return all;
}

static double transposed(int n) {
  double *from = new_matrix(), *to = new_matrix();
#pragma omp parallel for
  for (int i = 0; i < n * n; i++) from[i] = i * 7 % 101;
  for (int sweep = 0; sweep < 3; sweep++) {
#pragma omp parallel for
    for (int ii = 0; ii < n; ii += 8)
      for (int jj = 0; jj < n; jj += 16)
        for (int i = ii; i < min(ii + 8, n); i++)
          for (int j = jj; j < min(jj + 16, n); j++) to[i * n + j] = from[j * n + i] + i;
    double *swap = from;
    from = to, to = swap;
  }
  double all = sum(from, n);
  free(from), free(to);
  return all;
}

static double numbered(int n) {
  double *from = new_matrix(), *to = new_matrix();
#pragma omp parallel for
  for (int i = 0; i < n * n; i++) from[i] = i * 5 % 103;
  for (int sweep = 0; sweep < 3; sweep++) {
#pragma omp parallel for schedule(static, 1)
    for (int row = 0; row < n / 5; row++)
      for (int column = 0; column < n / 5; column++)
        for (int i = row * 5; i < (row + 1) * 5; i++)
          for (int j = column * 5; j < (column + 1) * 5; j++) to[i * n + j] = from[j * n + i] + i;
    double *swap = from;
    from = to, to = swap;
  }
  double all = sum(from, n);
  free(from), free(to);
  return all;
}

// Inner points only; the tiles' size is not a constant, and counters are long.
static double blocked_stencil(long n, long tile) {
  double *from = new_matrix(), *to = new_matrix();
#pragma omp parallel for
  for (long i = 0; i < n * n; i++) from[i] = to[i] = i * 3 % 107;
  for (int sweep = 0; sweep < 4; sweep++) {
#pragma omp parallel for
    for (long ii = 1; ii < n - 1; ii += tile)
      for (long jj = 1; jj < n - 1; jj += tile)
        for (long i = ii; i < (ii + tile < n - 1 ? ii + tile : n - 1); i++)
          for (long j = jj; j < (jj + tile < n - 1 ? jj + tile : n - 1); j++)
            to[i * n + j] = 0.25 * (from[(i - 1) * n + j] + from[(i + 1) * n + j] + from[i * n + j - 1] + from[i * n + j + 1]);
    double *swap = from;
    from = to, to = swap;
  }
  double all = sum(from, n);
  free(from), free(to);
  return all;
}

// Tiles from 0 of a range that begins and ends elsewhere: some have no element.
static double clipped(int n, int first, int last, int tile) {
  double *a = new_matrix();
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) a[i * n + j] = i + j;
  for (int sweep = 0; sweep < 3; sweep++) {
#pragma omp parallel for
    for (int ii = 0; ii < n; ii += tile)
      for (int i = max(ii, first); i < min(ii + tile, last); i++)
        for (int jj = 0; jj < n; jj += 4)
          for (int j = jj; j < min(jj + 4, last); j++) a[i * n + j] += i * j % 13 + sweep;
#pragma omp parallel for
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++) a[i * n + j] *= 0.5;
  }
  double all = sum(a, n);
  free(a);
  return all;
}

// Bands: rows that overlap, with a width that is known only here.
static double bands(int n, int width) {
  double *a = new_matrix(), *b = new_matrix();
#pragma omp parallel for
  for (int i = 0; i < n * n; i++) a[i] = i % 17;
  for (int sweep = 0; sweep < 3; sweep++) {
#pragma omp parallel for
    for (int i = 0; i < n; i++)
      for (int j = i; j < min(i + width, n); j++) b[i * n + j] += a[j * n + i] + sweep;
#pragma omp parallel for
    for (int i = 0; i < n; i++)
      for (int j = max(0, i - width); j <= i; j++) a[j * n + i] = 0.5 * b[j * n + i];
  }
  double all = sum(b, n);
  free(a), free(b);
  return all;
}

// Tiles of columns that get shorter from tile to tile.
static double shrinking(int n) {
  double *a = calloc(3 * n * n, sizeof(double)), all = 0;
  for (int sweep = 0; sweep < 3; sweep++) {
#pragma omp parallel for
    for (int part = 0; part < 3; part++)
      for (int ii = 0; ii < n; ii += 4)
        for (int i = ii; i < min(ii + 4, n); i++)
          for (int j = 0; j < n - ii; j++) a[part * n * n + j * n + i] += i + sweep * j;
#pragma omp parallel for
    for (int k = 0; k < 3 * n; k++)
      for (int i = 0; i < n; i++) a[i * 3 * n + k] = 0.5 * a[i * 3 * n + k] + k;
  }
  for (int k = 0; k < 3 * n * n; k++) all = 0.75 * all + a[k] * (1 + k % 5);
  free(a);
  return all;
}

// What lies under a diagonal of tiles: rows of one tile are as long as each other, those of the next are shorter.
static double under_a_diagonal(int n) {
  double *a = new_matrix();
#pragma omp parallel for
  for (int i = 0; i < n * n; i++) a[i] = i % 19;
  for (int sweep = 0; sweep < 3; sweep++) {
#pragma omp parallel for
    for (int ii = 0; ii < n; ii += 4)
      for (int i = ii; i < min(ii + 4, n); i++)
        for (int k = 0; k < n - ii; k++) a[i * n + k] = 0.5 * a[i * n + k] + i + k;
#pragma omp parallel for
    for (int k = 0; k < n; k++)
      for (int ii = 0; ii < n; ii += 4)
        for (int i = ii; i < min(ii + 4, n); i++)
          for (int j = k; j < min(k + 1, n - ii); j++) a[i * n + j] += 0.25 * sweep;
  }
  double all = sum(a, n);
  free(a);
  return all;
}

// Sizes that the compiler knows.
static double constant(void) {
  static double a[48][48], b[48][48];
  double all = 0;
  for (int sweep = 0; sweep < 3; sweep++) {
#pragma omp parallel for
    for (int ii = 0; ii < 48; ii += 8)
      for (int jj = 0; jj < 48; jj += 8)
        for (int i = ii; i < ii + 8; i++)
          for (int j = jj; j < jj + 8; j++) a[i][j] += b[j][i] + i;
#pragma omp parallel for
    for (long ii = 0; ii < 48; ii += 16)
      for (long i = ii; i < ii + 16; i++)
        for (long j = 0; j < 48; j++) b[j][i] = 0.5 * a[i][j] + sweep;
  }
  for (int i = 0; i < 48; i++)
    for (int j = 0; j < 48; j++) all = 0.75 * all + a[i][j] - b[i][j];
  return all;
}

int main(void) {
  for (int n = 0; n <= SIDES; n += n < 4 ? 1 : 7)
    printf("%d: %.12g %.12g %.12g %.12g\n", n, transposed(n), numbered(n - n % 5), blocked_stencil(n, 6),
           blocked_stencil(n, 1));
  printf("%.12g %.12g %.12g\n", blocked_stencil(50, 200), blocked_stencil(50, 16), blocked_stencil(51, 7));
  printf("%.12g %.12g %.12g %.12g\n", clipped(53, 0, 53, 8), clipped(53, 9, 31, 8), clipped(40, 39, 40, 5),
         clipped(40, 30, 20, 10));
  printf("%.12g %.12g %.12g\n", shrinking(41), shrinking(8), constant());
  printf("%.12g %.12g %.12g\n", bands(53, 1), bands(53, 6), bands(20, 100));
  printf("%.12g %.12g %.12g\n", under_a_diagonal(53), under_a_diagonal(16), under_a_diagonal(3));
  return 0;
}
