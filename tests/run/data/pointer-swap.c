// Two arrays swapped by pointer between sweeps, serially and inside one region.
// threads: any
#include <stdio.h>
#include <stdlib.h>

static double *next, *previous;

int main(void) {
  enum { n = 1500 };
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
  for (int i = 0; i < n; i++) a[i] = b[i] = i % 19;
  for (int t = 0; t < 15; t++) {
#pragma omp parallel for
    for (int i = 1; i < n - 1; i++) b[i] = 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * a[i + 1];
    double *swap = a;
    a = b;
    b = swap;
  }
  previous = a;
  next = b;
#pragma omp parallel
  for (int t = 0; t < 15; t++) {
#pragma omp for
    for (int i = 1; i < n - 1; i++) next[i] = 0.5 * previous[i - 1] + 0.5 * previous[i + 1];
#pragma omp single
    {
      double *swap = next;
      next = previous;
      previous = swap;
    }
  }
  double sum = 0;
  for (int i = 0; i < n; i++) sum += previous[i] * i;
  printf("%.17g\n", sum);
  free(next);
  free(previous);
  return 0;
}
