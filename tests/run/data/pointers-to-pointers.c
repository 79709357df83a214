// Row pointers in two and three dimensions, rows of different lengths, rows swapped.
// threads: any
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  enum { n = 40, m = 30 };
  double **a = malloc(n * sizeof *a), ***cube = malloc(5 * sizeof *cube);
  int **jagged = malloc(n * sizeof *jagged);
  for (int i = 0; i < n; i++) {
    a[i] = malloc(m * sizeof **a);
    jagged[i] = malloc((i + 1) * sizeof **jagged);
  }
  for (int i = 0; i < 5; i++) {
    cube[i] = malloc(6 * sizeof **cube);
    for (int j = 0; j < 6; j++) cube[i][j] = malloc(7 * sizeof ***cube);
  }
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) a[i][j] = i * m + j;
    for (int j = 0; j <= i; j++) jagged[i][j] = i - j;
  }
#pragma omp parallel for collapse(2)
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 6; j++)
      for (int k = 0; k < 7; k++) cube[i][j][k] = a[i * 6 + j][k] + 0.5;
  double *row = a[0];
  a[0] = a[n - 1];
  a[n - 1] = row;
#pragma omp parallel for
  for (int i = 1; i < n; i += 2) {
    double *t = a[i];
    a[i] = a[i - 1];
    a[i - 1] = t;
  }
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) sum += a[i][j] * (i + 1) + jagged[i][j % (i + 1)];
  for (int i = 0; i < 5; i++) {
    for (int j = 0; j < 6; j++) {
      sum += cube[i][j][(i + j) % 7];
      free(cube[i][j]);
    }
    free(cube[i]);
  }
  for (int i = 0; i < n; i++) {
    free(a[i]);
    free(jagged[i]);
  }
  free(a);
  free(cube);
  free(jagged);
  printf("%.1f\n", sum);
  return 0;
}
