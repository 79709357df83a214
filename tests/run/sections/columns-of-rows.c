// Columns of rows behind pointers, of which each thread has some: whole columns, triangles, blocks that begin with the
// column, under conditions, and rows in which the column moves.
// threads: any
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 61, COLUMNS = 1500, TIMES = 4 };

static unsigned long state = 3;
static int below(int bound) {
  state = state * 6364136223846793005ul + 1;
  return (int)(state >> 33) % bound;
}

static double **table(int order) {
  double **w = malloc((ROWS + COLUMNS) * sizeof *w);
  for (int k = 0; k < ROWS + COLUMNS; k++) {
    w[k] = k < ROWS ? calloc(COLUMNS + below(900), sizeof **w) : w[k % ROWS];
    for (int j = 0; k < ROWS && j < COLUMNS; j++) w[k][j] = (k * 7 + j * 3) % 11;
  }
  for (int k = ROWS - 1; k > 0 && order; k--) {
    int other = below(k + 1);
    double *row = w[k];
    w[k] = w[other];
    w[other] = row;
  }
  return w;
}

static double sum_of(double **w) {
  double sum = 0;
  for (int k = 0; k < ROWS; k++)
    for (int j = 0; j < COLUMNS; j++) sum += w[k][j] * ((k + 2 * j) % 13);
  return sum;
}

__attribute__((noinline)) static void multiply(double **w, const double *x, double *y, int rows) {
#pragma omp parallel for
  for (int j = 0; j < COLUMNS; j++) {
    double sum = 0;
    for (int k = 0; k < rows; k++) sum += w[k][j] * x[k];
    y[j] = sum;
  }
}

__attribute__((noinline)) static void adjust(double **w, const double *x, const double *y, int rows) {
#pragma omp parallel for
  for (int j = 0; j < COLUMNS; j++)
    for (int k = 0; k < rows; k++) w[k][j] += 1e-3 * y[j] * x[k];
}

__attribute__((noinline)) static void triangle(double **w, int rows) {
#pragma omp parallel for schedule(static, 17)
  for (int j = 0; j < COLUMNS; j++)
    for (int k = 0; k < (j < rows ? j : rows); k++) w[k][j] += 1;
}

__attribute__((noinline)) static void sometimes(double **w, int rows, int when) {
#pragma omp parallel for
  for (int j = 1; j < COLUMNS - 1; j++)
    if (j % 3 == when)
      for (int k = 2; k < rows; k += 2) w[k][j] = w[k - 1][j + 1] + w[k - 2][j - 1];
}

__attribute__((noinline)) static void pairs(double **w, int rows) {
#pragma omp parallel for
  for (int j = 0; j < COLUMNS / 2; j++)
    for (int k = rows - 1; k >= 0; k--)
      for (int p = 0; p < 2; p++) w[k][2 * j + p] += p + k;
}

__attribute__((noinline)) static void move(double **w, double *y, int rows) {
#pragma omp parallel for
  for (int j = 0; j < COLUMNS; j++)
    for (int k = 0; k < rows && k <= j; k++) y[j] += w[k][j - k];
}

__attribute__((noinline)) static void put_back(double **w, const double *y, int rows) {
#pragma omp parallel for
  for (int j = 0; j < COLUMNS; j++)
    for (int k = 0; k < rows && k <= j; k++) w[k][j - k] += 1e-4 * y[j] - k;
}

// How many columns there are holds only where the loops are entered: with few of them some are not.
__attribute__((noinline)) static void few(double **w, double *y, int rows, int m) {
#pragma omp parallel for
  for (int t = 0; t < 40; t++) {
    double sum = 0;
    for (int i = 0; i < 5; i++)
      for (int j = i; j < m - 2; j++)
        for (int k = 0; k < rows; k++) sum += w[k][j] * t;
    for (int j = 1; j < m - 2; j++)
      for (int k = 0; k < rows; k++) sum -= w[k][j - 1];
    y[t] += sum;
  }
}

int main(void) {
  double *x = malloc(ROWS * sizeof *x), *y = malloc(COLUMNS * sizeof *y);
  for (int order = 0; order < 2; order++) {
    double **w = table(order);
    for (int k = 0; k < ROWS; k++) x[k] = k % 5 - 2;
    for (int t = 0; t < TIMES; t++) {
      multiply(w, x, y, ROWS - t);
      adjust(w, x, y, ROWS - t);
      triangle(w, ROWS);
      sometimes(w, ROWS, t % 3);
      pairs(w, ROWS);
      move(w, y, ROWS);
      put_back(w, y, ROWS - 3 * t);
      for (int m = -3; m < 12; m += 3) few(w, y, ROWS - 20 * t, m + t);
      double sum = 0;
      for (int j = 0; j < COLUMNS; j++) sum += y[j] * (j % 7);
      printf("%.10g %.10g\n", sum, sum_of(w));
      multiply(w, x, y, 0);
      x[t] += y[t];
    }
  }
}
