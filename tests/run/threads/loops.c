// Several loops in a region, with and without barriers between them, of several schedules; nested loops; a
// loop of which some threads get nothing.
// ranks: 1 2 3
// threads: any
// env: OMP_NUM_THREADS=2
// opt: -O1 -O2
#include <stdio.h>
#include <stdlib.h>

enum { N = 1201, M = 37 };

int main(void) {
  long *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b), *c = malloc(N * sizeof *c);
  long(*square)[M] = malloc(sizeof(long[M][M])), *few = malloc(M * sizeof *few);
  for (int round = 0; round < 5; round++) {
#pragma omp parallel
    {
#pragma omp for schedule(static) nowait
      for (int i = 0; i < N; i++) a[i] = i + round;
#pragma omp for schedule(static) nowait
      for (int i = 0; i < N; i++) b[i] = 2 * a[i];
#pragma omp for schedule(static)
      for (int i = 0; i < N; i++) c[i] = a[i] + b[i];
#pragma omp for schedule(runtime)
      for (int i = 0; i < N; i++) a[i] += c[N - 1 - i];
#pragma omp for schedule(dynamic, 3)
      for (int i = 0; i < N; i++) b[i] += a[i];
#pragma omp for schedule(guided)
      for (int i = 0; i < N - 1; i++) c[i] += b[i + 1];
#pragma omp for nowait
      for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++) square[i][j] = i * j + round;
#pragma omp for
      for (int i = 0; i < 3; i++) few[i] = round * i;
#pragma omp for
      for (int j = 0; j < M; j++)
        for (int i = 0; i < M; i++) square[i][j] += few[j % 3] - few[i % 3];
    }
    long sum = 0;
    for (int i = 0; i < N; i++) sum += a[i] + 3 * b[i] + 5 * c[i];
    for (int i = 0; i < M * M; i++) sum += square[i / M][i % M] * i;
    printf("%ld\n", sum);
    b[round] += round;
    square[round][1] += 7;
  }
  return 0;
}
