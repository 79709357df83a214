// Each thread allocates and frees its own work memory thousands of times.
// threads: any
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 3000; i++) {
    int n = 1 + i % 100;
    int *work = malloc(n * sizeof *work), *more = calloc(n, sizeof *more);
    for (int k = 0; k < n; k++) work[k] = i + k;
    for (int k = 0; k < n; k++) more[k] += work[n - 1 - k];
    sum += more[n / 2];
    free(more);
    free(work);
  }
  printf("%ld\n", sum);
  return 0;
}
