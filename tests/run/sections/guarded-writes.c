// Writes that happen for some elements only, at the ends of the threads' shares too.
// threads: any
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  enum { n = 40000, rounds = 12 };
  int *value = malloc(n * sizeof *value), *count = malloc(n * sizeof *count);
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    value[i] = i * 7 % 1013;
    count[i] = 0;
  }
  for (int round = 0; round < rounds; round++) {
#pragma omp parallel for
    for (int i = 0; i < n; i++)
      if (value[i] % (round + 2) == 0) count[i]++;
#pragma omp parallel for
    for (int i = 1; i < n; i += 2) {
      value[i] += count[i - 1];
      if (count[i] > round / 2) value[i - 1] = round;
    }
    if (round % 4 == 3) value[round * 1000] = -round;
  }
  unsigned long sum = 0;
  for (int i = 0; i < n; i++) sum = sum * 31 + (unsigned)(value[i] * 64 + count[i]);
  printf("%lx\n", sum);
  free(value);
  free(count);
  return 0;
}
