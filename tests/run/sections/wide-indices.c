// Indices that wrap around in 64 bits, as hashes do.
// threads: any
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  enum { size = 1 << 14 };
  long n = 30000 + argc - 1;
  double *table = malloc(size * sizeof *table), *out = malloc(n * sizeof *out);
  for (int step = 0; step < 6; step++) {
#pragma omp parallel for
    for (long i = 0; i < size; i++) table[i] = i * (step + 1);
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
      uint64_t hash = (uint64_t)i * 6364136223846793005ull;
      out[i] = table[hash >> 50];
    }
    double sum = 0;
    for (long i = 0; i < n; i++) sum += out[i] * (i % 17);
    printf("%.15g\n", sum);
    n -= 3;
  }
  free(out);
  free(table);
  return 0;
}
