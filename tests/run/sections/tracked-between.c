// Regions that declare everything, and regions that cannot, take turns on the same arrays.
// threads: any
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  enum { n = 30000 };
  int *where = malloc(n * sizeof *where);
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), largest = 0;
  for (int i = 0; i < n; i++) where[i] = (int)(i * 7919L % n);
  for (int round = 0; round < 30; round++) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = i * 0.5 + round;
#pragma omp parallel for
    for (int i = 0; i < n; i++) b[where[i]] = a[i] + (i > 0 ? a[i - 1] : 0);
#pragma omp parallel
    {
      double mine = 0;
#pragma omp for nowait
      for (int i = 0; i < n; i++)
        if (b[i] > mine) mine = b[i];
#pragma omp critical
      if (mine > largest) largest = mine;
    }
    a[round] = largest;
  }
  double sum = 0;
  for (int i = 0; i < n; i++) sum = sum * 0.9999 + a[i] + b[i];
  printf("%.15g %.15g\n", sum, largest);
  free(where);
  free(a);
  free(b);
  return 0;
}
