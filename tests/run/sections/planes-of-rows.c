// Planes of rows: pointers to pointers to rows, of one length or uneven, in one block or apart, whose pointers at both
// levels trade places in serial code and in parallel loops.
// threads: any
#include <stdio.h>
#include <stdlib.h>

static int length_of(int kind, int i, int j, int m) { return kind == 2 ? 2 + (i * 5 + j * 3) % (m - 1) : m; }

static double ***planes(int n, int r, int m, int kind) {
  double ***a = malloc(n * sizeof *a), *block = calloc((size_t)n * r * m, sizeof *block);
  for (int i = 0; i < n; i++) {
    a[i] = malloc(r * sizeof **a);
    for (int j = 0; j < r; j++) {
      if (kind == 0) a[i][j] = block + ((size_t)i * r + j) * m;
      if (kind != 0) a[i][j] = calloc(length_of(kind, i, j, m), sizeof ***a);
    }
  }
  return a;
}

static double run(int n, int r, int m, int kind) {
  double ***a = planes(n, r, m, kind), ***b = planes(n, r, m, kind);
  int **lengths = malloc(n * sizeof *lengths);
  for (int i = 0; i < n; i++) {
    lengths[i] = malloc(r * sizeof **lengths);
    for (int j = 0; j < r; j++) lengths[i][j] = length_of(kind, i, j, m);
  }
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < r; j++)
      for (int k = 0; k < lengths[i][j]; k++) a[i][j][k] = (i * 7 + j * 3 + k) % 11;
  for (int step = 0; step < 6; step++) {
    // The same places of the planes around, of what there is of the rows.
#pragma omp parallel for
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < r - 1; j++)
        for (int k = 0; k < 2; k++)
          b[i][j][k] = a[i - 1][j][k] + a[i + 1][j][k] * 0.5 + a[i][j - 1][k] * 0.25 + a[i][j + 1][k] * 0.125;
#pragma omp parallel for schedule(static, 1)
    for (int j = 0; j < r; j++)
      for (int i = 0; i < n; i++)
        for (int k = 0; k < lengths[i][j]; k++) a[i][j][k] += b[i][j][k] * 0.01 + 1;
    if (step == 1) {  // planes
      double **plane = a[0];
      a[0] = a[n - 1], a[n - 1] = plane;
      int *length = lengths[0];
      lengths[0] = lengths[n - 1], lengths[n - 1] = length;
      plane = b[0], b[0] = b[n - 1], b[n - 1] = plane;
    }
    if (step == 2 && kind != 2) {  // rows, by serial code
      double *row = a[n / 2][0];
      a[n / 2][0] = a[n / 2][r - 1], a[n / 2][r - 1] = row;
    }
    if (step == 3) {  // planes, by the loop
#pragma omp parallel for
      for (int i = 0; i < n; i++) {
        double **plane = a[i];
        a[i] = b[i];
        b[i] = plane;
      }
    }
    if (step == 4) {  // rows, by the loop
#pragma omp parallel for
      for (int i = 0; i < n; i++)
        for (int j = 0; j < r; j++) {
          double *row = a[i][j];
          a[i][j] = b[i][j];
          b[i][j] = row;
        }
    }
  }
  double sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < r; j++)
      for (int k = 0; k < lengths[i][j]; k++) sum = 0.999 * sum + a[i][j][k] + 2 * b[i][j][k];
  return sum;
}

int main(void) {
  int sizes[][3] = {{2, 2, 3}, {3, 4, 5}, {9, 7, 40}, {70, 65, 12}};
  for (int s = 0; s < 4; s++)
    for (int kind = 0; kind < 3; kind++)
      printf("%d %d: %.12g\n", s, kind, run(sizes[s][0], sizes[s][1], sizes[s][2], kind));
  return 0;
}
