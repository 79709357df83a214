// Rows in an order in which they do not join, jagged rows, planes of rows, tables that are rewritten between
// regions or swapped between sweeps, chunks of rows, and marked stores in the same region.
// threads: any
#include <stdio.h>
#include <stdlib.h>

static unsigned long state = 5;
static int below(int bound) {
  state = state * 6364136223846793005ul + 1;
  return (int)(state >> 33) % bound;
}

// Kinds: in order, in random order, backwards, every second one of a block.
static double **rows(int n, int m, int kind) {
  double **a = malloc(n * sizeof *a), *block = calloc(2 * n * m, sizeof *block);
  for (int i = 0; i < n; i++) a[i] = kind == 3 ? block + 2 * i * m : calloc(m, sizeof **a);
  for (int i = n - 1; i > 0 && kind == 1; i--) {
    int j = below(i + 1);
    double *row = a[i];
    a[i] = a[j];
    a[j] = row;
  }
  for (int i = 0; i < n / 2 && kind == 2; i++) {
    double *row = a[i];
    a[i] = a[n - 1 - i];
    a[n - 1 - i] = row;
  }
  return a;
}

static double sum(double **a, int n, int m) {
  double all = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) all = 0.999 * all + a[i][j];
  return all;
}

static double jacobi(int n, int m, int kind, int chunk, int sweeps) {
  double **a = rows(n, m, kind), **b = rows(n, m, (kind + 1) % 4);
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) a[i][j] = b[i][j] = (i * 7 + j) % 13;
  for (int sweep = 0; sweep < sweeps; sweep++) {
    if (chunk) {
#pragma omp parallel for schedule(static, 3)
      for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++) b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
    } else {
#pragma omp parallel for
      for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++) b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
    }
    double **swap = a;
    a = b;
    b = swap;
    // Other rows, some new ones, in places of a table.
    if (sweep % 3 == 2) {
      int i = below(n), j = below(n);
      double *row = b[i];
      b[i] = b[j];
      b[j] = row;
      double *new = calloc(m, sizeof *new);
      for (int k = 0; k < m; k++) new[k] = a[i][k];
      free(a[i] == row || kind == 3 || (kind + 1) % 4 == 3 ? 0 : a[i]);
      a[i] = new;
    }
  }
  return sum(a, n, m) + sum(b, n, m);
}

static double jagged(int n, int together) {
  double **a = malloc(n * sizeof *a), *block = calloc(n * (n + 1), sizeof *block), all = 0;
  for (int i = 0, at = 0; i < n; at += ++i) a[i] = together ? block + at : calloc(i + 1, sizeof **a);
  for (int sweep = 0; sweep < 4; sweep++) {
#pragma omp parallel for
    for (int i = 0; i < n; i++)
      for (int j = 0; j <= i; j++) a[i][j] += i + j * sweep;
#pragma omp parallel for reduction(+ : all)
    for (int i = 1; i < n; i++)
      for (int j = 0; j < i; j++) all += a[i - 1][j] * (j + 1);
  }
  return all;
}

static double planes(int l, int n, int m, int kind) {
  double ***u = malloc(l * sizeof *u), ***v = malloc(l * sizeof *v), all = 0;
  for (int k = 0; k < l; k++) u[k] = rows(n, m, kind), v[k] = rows(n, m, 0);
  for (int sweep = 0; sweep < 3; sweep++) {
#pragma omp parallel for
    for (int k = 0; k < l; k++)
      for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) u[k][i][j] += k + i * j;
#pragma omp parallel for
    for (int k = 1; k < l - 1; k++)
      for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++) v[k][i][j] = u[k - 1][i][j] + u[k + 1][i][j] - u[k][i - 1][j] + u[k][i + 1][j - 1];
#pragma omp parallel for
    for (int k = 1; k < l - 1; k++)
      for (int i = 0; i < n; i++) {
        v[k][i][0] = v[k][i][m - 2];
        v[k][i][m - 1] = u[k][i][1];
      }
    double **plane = u[0];
    u[0] = v[l - 1];
    v[l - 1] = plane;
  }
  for (int k = 0; k < l; k++) all += sum(u[k], n, m) + k * sum(v[k], n, m);
  return all;
}

// What rows hold says where to store.
static double scatter(int n, int m, int kind) {
  double **a = rows(n, m, kind), *to = calloc(4 * n, sizeof *to), all = 0;
  int *map = malloc(4 * n * sizeof *map);
  for (int i = 0; i < 4 * n; i++) map[i] = (i * 7 + 3) % (4 * n);
  for (int sweep = 0; sweep < 4; sweep++) {
#pragma omp parallel for
    for (int i = 0; i < n; i++)
      for (int j = 0; j < 4; j++) {
        to[map[i * 4 + j]] = i + sweep;
        a[i][j] += map[i * 4 + j];
      }
    for (int i = 0; i < 4 * n; i++) all += to[i] * (i % 5);
  }
  return all + sum(a, n, m);
}

int main(void) {
  int sizes[][2] = {{5, 9}, {40, 60}, {150, 40}, {400, 12}, {30, 2100}};
  for (int s = 0; s < 5; s++)
    for (int kind = 0; kind < 4; kind++) {
      int n = sizes[s][0], m = sizes[s][1];
      printf("%d %d %d: %.12g %.12g\n", n, m, kind, jacobi(n, m, kind, 0, 12), jacobi(n, m, kind, 1, 7));
      printf("%.12g %.12g\n", scatter(n, m, kind), planes(6, n / 3 + 3, m / 2 + 3, kind));
    }
  printf("%.12g %.12g %.12g\n", jagged(20, 0), jagged(90, 1), jagged(200, 0));
  return 0;
}
