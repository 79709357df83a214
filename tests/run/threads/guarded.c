// Writes under conditions, by all threads to the same array, beside unconditional ones and reads of
// what stays as it is; in new arrays and in those of the round before.
// ranks: 1 2 3
// threads: any
// env: OMP_NUM_THREADS=2
// opt: -O2
#include <stdio.h>
#include <stdlib.h>

enum { N = 5021, ROUNDS = 12 };

int main(void) {
  long *a = NULL, *b = malloc(N * sizeof *b);
  for (int i = 0; i < N; i++) b[i] = i % 7;
  for (int round = 0; round < ROUNDS; round++) {
    if (round % 3 == 0) {
      a = malloc(N * sizeof *a);
      for (int i = 0; i < N; i++) a[i] = i;
    }
#pragma omp parallel
    {
#pragma omp for nowait
      for (int i = 0; i < N / 2; i++)
        if (b[i] == round % 7) a[i] = -round;
#pragma omp for
      for (int i = N / 2; i < N; i++) a[i] += b[N - 1 - i];
#pragma omp for
      for (int i = 0; i < N; i++)
        if (a[i] < 0) b[i] = (b[i] + a[i] % 3) & 7;
#pragma omp for
      for (int i = 0; i < N; i++)
        if (i % 5 == round % 5) a[N - 1 - i] += 1;
    }
    long sum = 0;
    for (int i = 0; i < N; i++) sum += a[i] * (i % 11) + b[i];
    printf("%ld\n", sum);
    a[round * 100] = -1;
  }
  return 0;
}
