// Regions of threads that declare what they access between regions whose pages are tracked, and serial code.
// ranks: 2 3
// threads: any
// env: OMP_NUM_THREADS=2
// opt: -O2
// skip-with: OKL_VERIFY=1
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 3001 };

int main(void) {
  long *a = malloc(N * sizeof *a), *map = malloc(N * sizeof *map), total = 0, count = 0;
  for (int i = 0; i < N; i++) map[i] = (i * 7L) % N;
  for (int round = 0; round < 6; round++) {
#pragma omp parallel for
    for (int i = 0; i < N; i++) a[i] = i + round;
    a[round] = -1;
    // Where it writes is not known before.
#pragma omp parallel for
    for (int i = 0; i < N; i++) a[map[i]] += i;
#pragma omp parallel
    {
      long own = 0;
#pragma omp for nowait
      for (int i = 0; i < N; i++) own += a[i] % 5;
#pragma omp critical
      count += own;
    }
#pragma omp parallel for
    for (int i = 0; i < N; i++) a[i] = 3 * a[i] + map[N - 1 - i];
    for (int i = 0; i < N; i += 100) map[i] = (map[i] + N) % N;
    long sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < N; i++) sum += a[i] * (i & 3);
    total += sum;
  }
  printf("%ld %ld\n", total, count);
  return 0;
}
