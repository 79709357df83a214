// A matrix in compressed rows: bounds and columns read from memory.
// threads: any
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  enum { n = 600 };
  int *start = malloc((n + 1) * sizeof *start), *column = malloc(n * 8 * sizeof *column), k = 0;
  double *value = malloc(n * 8 * sizeof *value), x[n], y[n];
  for (int i = 0; i < n; i++) {
    start[i] = k;
    for (int e = 0; e < 1 + i % 8; e++) {
      column[k] = (i * 31 + e * 97) % n;
      value[k++] = 1.0 / (1 << (e % 4));
    }
    x[i] = i % 5;
  }
  start[n] = k;
#pragma omp parallel
  for (int round = 0; round < 5; round++) {
#pragma omp for
    for (int i = 0; i < n; i++) {
      y[i] = 0;
      for (int e = start[i]; e < start[i + 1]; e++) y[i] += value[e] * x[column[e]];
    }
#pragma omp for
    for (int i = 0; i < n; i++) x[i] = y[i] - (int)y[i] + i % 3;
  }
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * i;
  printf("%.17g\n", sum);
  free(start);
  free(column);
  free(value);
  return 0;
}
