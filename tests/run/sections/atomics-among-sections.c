// A region with atomic accesses whose values are used comes between regions that declare their accesses to the same
// arrays, more often than pages may go back to their homes for good.
// threads: any
// opt: -O2
#include <stdio.h>
#include <stdlib.h>

enum { n = 200000, bins = 1024, rounds = 40 };

int main(void) {
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
  long *count = calloc(bins, sizeof *count);
  int *place = calloc(n, sizeof *place);
  for (int i = 0; i < n; i++) a[i] = b[i] = i % 101;
  long taken = 0;
  for (int round = 0; round < rounds; round++) {
#pragma omp parallel for
    for (int i = 1; i < n - 1; i++) b[i] = 0.5 * (a[i - 1] + a[i + 1]);
#pragma omp parallel for
    for (int i = 0; i < bins; i++) count[i] = round;
    // Threads take places in the same bins at the same time.
#pragma omp parallel for
    for (int i = 0; i < n / 512; i++) {
      long old;
      int bin = (i * 7919 + round) % bins;
#pragma omp atomic capture
      {
        old = count[bin];
        count[bin] += 1;
      }
      place[i] = old >= round && old < n ? 2 : 1;
    }
#pragma omp parallel for
    for (int i = 1; i < n - 1; i++) a[i] = b[i] + 0.25;
    for (int i = 0; i < bins; i += 97) taken = taken * 3 + count[i];
  }
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] + place[i];
  for (int i = 0; i < bins; i++) taken = taken * 3 + count[i];
  printf("%.12g %ld\n", sum, taken);
  free(a), free(b), free(count), free(place);
}
