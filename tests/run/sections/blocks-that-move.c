// Blocks are freed, allocated again with other contents and lengths, and resized between regions.
// threads: any
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double fill_and_sum(double *a, int n, int round) {
  double sum = 0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = (i + round) % 17;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 1; i < n; i++) sum += a[i] * (a[i - 1] + 1);
  return sum;
}

int main(void) {
  double total = 0, *kept = NULL;
  for (int round = 0; round < 25; round++) {
    int n = 3000 + 977 * (round % 7);
    double *a = malloc(n * sizeof *a);
    total += fill_and_sum(a, n, round);
    double *copy = calloc(n + 50, sizeof *copy);
    memcpy(copy, a, n / 2 * sizeof *copy);
    free(a);
    total += fill_and_sum(copy + 25, n / 3, round) + copy[n / 2 - 1] + copy[n + 20];
    kept = realloc(kept, (round + 1) * 2000 * sizeof *kept);
    memcpy(kept + round * 2000, copy, 2000 * sizeof *kept);
    free(copy);
  }
  for (int i = 0; i < 25 * 2000; i++) total = total * 0.9999 + kept[i];
  printf("%.12g\n", total);
  free(kept);
  return 0;
}
