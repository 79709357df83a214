// Rows behind tables of pointers: of one block, allocated one by one, in any order, the same row twice, some
// in static memory, tables that change between loops, tables of tables, and a table on the stack.
// threads: any
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 61, WIDE = 73 };
static double spare[4][WIDE];

static double **rows(int n, int m, int kind) {
  double **a = malloc(n * sizeof *a), *block = calloc(n * m, sizeof *block);
  for (int i = 0; i < n; i++) {
    if (kind == 0) a[i] = block + i * m;
    if (kind == 1) a[i] = calloc(m, sizeof **a);
    if (kind == 2) a[i] = block + (n - 1 - i) * m;
    if (kind == 3) a[i] = i < 4 ? spare[i] : block + i * 7 % n * m;
  }
  return a;
}

// The loop in a function of its own, that the region calls.
__attribute__((noinline)) static void smooth(double **to, double **from, int n, int m) {
#pragma omp for
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      to[i][j] = 0.25 * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
}

static double run(int n, int m, int kind) {
  double **a = rows(n, m, kind), **b = rows(n, m, kind % 3), sum = 0;
  double ***cube = malloc(n * sizeof *cube);
  for (int i = 0; i < n; i++) cube[i] = rows(5, m, kind % 3);
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) b[i][j] = (i * 5 + j * 3) % 17;
  for (int step = 0; step < 5; step++) {
#pragma omp parallel
    {
      smooth(a, b, n, m);
#pragma omp for schedule(static, 2)
      for (int k = 0; k < n; k++)
        for (int i = 0; i < 5; i++)
          for (int j = 0; j < m; j++) cube[k][i][j] += b[k][j] + i;
    }
#pragma omp parallel for
    for (int k = 1; k < n; k++) {
      for (int j = 0; j < m; j++) b[k][j] += cube[k][1][j] - cube[k - 1][3][j];
      b[k][0] = k;
      if (k % 3 == 0) b[k][m - 1] = step;
    }
    // Rows trade places: no loop may use what was known of them.
    if (step % 2 == 0) {
      double *swap = b[0];
      b[0] = b[n - 1];
      b[n - 1] = swap;
    }
    // The same row twice, in two threads' hands, is read only.
#pragma omp parallel
    {
      double *mine[3] = {a[0], a[n / 2], a[0]};
#pragma omp for reduction(+ : sum)
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < m; j++) sum += mine[i][j] * (i + 1);
    }
    // A table that the loop itself writes.
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
      double *row = a[i];
      a[i] = b[i];
      b[i] = row;
    }
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) sum = 0.999 * sum + a[i][j] + b[i][j] + cube[i][i % 5][j];
  return sum;
}

int main(void) {
  int sizes[][2] = {{2, 3}, {3, 2}, {5, WIDE}, {MOST, WIDE}, {40, 600}};
  for (int s = 0; s < 5; s++)
    for (int kind = 0; kind < 3 + (sizes[s][1] <= WIDE); kind++) {
      memset(spare, 0, sizeof spare);
      printf("%d %d %d: %.12g\n", sizes[s][0], sizes[s][1], kind, run(sizes[s][0], sizes[s][1], kind));
    }
  return 0;
}
