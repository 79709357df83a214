// Functions that are not inlined work on arrays that a thread hands over, of its own or shared, and read through pointers
// and bounds in variables of the file, which change between loops, and in them.
#include <stdio.h>
#include <stdlib.h>

enum { n = 300, m = 64, rounds = 5 };

static double *roots, *shifted, *table;
static int extent, stride = 1;
static struct {
  double padding[700];
  double *row;
} large;
static double a[n][m], b[n][m];

__attribute__((noinline)) static void butterflies(int level, const double *from, double *to) {
  int half = 1 << (level - 1);
  for (int i = 0; i < m / 2 / half; i++)
    for (int k = 0; k < half; k++) {
      to[2 * i * half + k] = from[i * half + k] + roots[half + i];
      to[(2 * i + 1) * half + k] = from[i * half + k + m / 2] - roots[half + i];
    }
}

__attribute__((noinline)) static void transform(const double *from, double *to, double *work) {
  for (int i = 0; i < m; i++) work[i] = from[i];
  for (int level = 1; level <= 5; level += 2) {
    butterflies(level, work, to);
    if (level == 5) break;
    butterflies(level + 1, to, work);
  }
  if (from[0] < -1e9) {
    printf("not finite\n");
    exit(3);
  }
}

__attribute__((noinline)) static void shift(double *row) {
  for (int j = 0; j < extent; j += stride) row[j] += shifted[j] + large.row[j];
}

// It changes what others load, where they are called later.
__attribute__((noinline)) static void advance(double *row, int by) {
  row[0] += *table;
  if (by) table += by;
}

static void pencils(double (*from)[m], double (*to)[m], double *line, double *work) {
#pragma omp for
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) line[j] = from[(i * 7) % n][j];
    transform(line, work, line + m);
    for (int j = 0; j < m; j++) to[i][j] = work[j];
  }
}

int main(void) {
  roots = calloc(2 * m, sizeof *roots);
  double *first = calloc(4 * m, sizeof *first), *second = calloc(4 * m, sizeof *second);
  large.row = first + 3;
  for (int i = 0; i < 2 * m; i++) roots[i] = i % 9;
  for (int i = 0; i < 4 * m; i++) first[i] = i % 5, second[i] = i % 7;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) a[i][j] = (i * 13 + j) % 23;
  for (int round = 0; round < rounds; round++) {
    shifted = round % 2 ? first : second;
    extent = m - round;
    table = second;
#pragma omp parallel
    {
      double line[2 * m], work[m];
      pencils(a, b, line, work);
#pragma omp for
      for (int i = 0; i < n; i++) shift(b[i]);
#pragma omp single
      {
        shifted = shifted == first ? second : first;
        large.row = shifted + 5;
        stride = 1 + round % 3;
        extent--;
        for (int i = 0; i < n; i++) advance(a[i], i % 40 == 0);
      }
#pragma omp for
      for (int i = 0; i < n; i++) {
        shift(b[i]);
        for (int j = 0; j < m; j++) a[i][j] += 0.25 * b[i][j];
      }
    }
    double sum = 0;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++) sum += a[i][j] * (j + 1) + b[i][j];
    printf("%d %.12g\n", round, sum);
  }
}
