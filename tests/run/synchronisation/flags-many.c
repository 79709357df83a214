// More flags than the run time has slots for, of two sizes: what was written before they were set is seen. Some of the
// accesses are atomic.
// threads: any
// limit: 60
// env: OKL_FLAGS=ranks
// warns: parallel region runs on rank 0 alone: it waits for a flag that another thread sets
#include <stdio.h>

enum { N = 2500, CHUNK = 50 };
static long long done[N];
static short started[N];
static double value[N];

int main(void) {
  double sum = 0;
  int wrong = 0;
  for (int step = 1; step <= 2; step++) {
#pragma omp parallel for schedule(static, CHUNK) reduction(+ : wrong)
    for (int i = 0; i < N; i++) {
      if (i > 0)
        while (done[i - 1] != step) {
#pragma omp flush
        }
      value[i] = (i > 0 ? value[i - 1] * 0.99 : 0) + i % 7 + step;
#pragma omp atomic write
      started[i] = (short)step;
      done[i] = step;
      long long mine;
#pragma omp atomic read
      mine = done[i];
      wrong += mine != step;
    }
#pragma omp parallel for schedule(static, 2 * CHUNK)
    for (int i = N - CHUNK; i < N; i++)
      while (started[N - 1 - i] < step) {
#pragma omp flush
      }
  }
  for (int i = 0; i < N; i++) {
    sum += value[i] * (i % 5);
    wrong += done[i] != 2 || started[i] != 2;
  }
  printf("%.12g %d\n", sum, wrong);
}
