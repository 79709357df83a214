// An array reduction of several pages per thread.
// threads: any
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  enum { bins = 3000 };
  static int count[bins];
  int *weights = calloc(bins, sizeof *weights);
#pragma omp parallel for reduction(+ : count, weights[0 : bins]) schedule(static, 100)
  for (int i = 0; i < 20000; i++) {
    unsigned bin = (unsigned)i * 2654435761u % bins;
    count[bin]++;
    weights[bin] += i % 10;
  }
  unsigned hash = 0;
  for (int i = 0; i < bins; i++) hash = hash * 31 + (unsigned)count[i] * 7 + (unsigned)weights[i];
  printf("%u\n", hash);
  free(weights);
  return 0;
}
