// What threads other than a rank's first inherit and leave behind: the rounding mode, private copies,
// the values of the last iteration, and what a chosen thread writes to shared variables.
// ranks: 1 2 3
// threads: any
// env: OMP_NUM_THREADS=2
// opt: -O2
#include <fenv.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 3000 };

int main(void) {
  double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
  int last = -1, chosen = 0, wrong = 0, final = 0;
  double weights[5] = {1, 2, 3, 4, 5}, value = 0;
  for (int i = 0; i < N; i++) x[i] = 3 + i;
  int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD};
  for (int round = 0; round < 6; round++) {
    fesetround(modes[round % 3]);
#pragma omp parallel for firstprivate(weights) lastprivate(last, value)
    for (int i = 0; i < N; i++) {
      weights[i % 5] += round;
      y[i] = 1 / x[i];
      value = y[i];
      last = i + round;
    }
    for (int i = 0; i < N; i++) wrong += y[i] != 1 / x[i];
    wrong += value != y[N - 1] || last != N - 1 + round;
    fesetround(FE_TONEAREST);
#pragma omp parallel
    {
      int end = omp_get_num_threads() - 1;
#pragma omp masked filter(end)
      {
        chosen += round + 1;
        final = omp_get_thread_num() == end;
      }
#pragma omp barrier
#pragma omp for
      for (int i = 0; i < N; i++) y[i] = chosen * i;
    }
    for (int i = 0; i < N; i++) wrong += y[i] != (round + 1) * (round + 2) / 2 * i;
  }
  printf("%d %d %d\n", wrong, chosen, final);
  return 0;
}
