// Pipelines by flags that are set back before each turn: a thread that waits behind the barrier waits for what is stored
// behind it, whatever it was told before.
// threads: any
// limit: 60
// env: OKL_FLAGS=ranks
// warns: parallel region runs on rank 0 alone: it waits for a flag that another thread sets
#include <omp.h>
#include <stdio.h>

enum { PLANES = 14, SIZE = 120, TURNS = 60 };
static double values[PLANES][SIZE][SIZE];
static volatile int done[64];

int main(void) {
  double sum = 0;
  for (int k = 0; k < PLANES; k++)
    for (int i = 0; i < SIZE; i++)
      for (int j = 0; j < SIZE; j++) values[k][i][j] = (k + 3 * i + j) % 7;
#pragma omp parallel
  {
    int me = omp_get_thread_num(), threads = omp_get_num_threads();
    int first = SIZE * me / threads, last = SIZE * (me + 1) / threads;
    for (int turn = 0; turn < TURNS; turn++) {
      done[me] = 0;
#pragma omp barrier
      for (int k = 1; k < PLANES; k++) {
        if (me > 0) {
          while (done[me - 1] < k) {
#pragma omp flush
          }
#pragma omp flush
        }
        for (int i = first ? first : 1; i < last; i++)
          for (int j = 1; j < SIZE; j++)
            values[k][i][j] = (long)(2 * values[k][i][j] + values[k][i - 1][j] + values[k][i][j - 1] + values[k - 1][i][j]) % 127;
#pragma omp flush
        done[me] = k;
#pragma omp flush
      }
#pragma omp barrier
#pragma omp single
      sum += values[PLANES - 1][SIZE - 1][SIZE - 1];
#pragma omp for
      for (int k = 0; k < PLANES; k++)
        for (int i = 0; i < SIZE; i++) values[k][i][turn] += (long)sum % 50;
    }
  }
  for (int k = 0; k < PLANES; k++)
    for (int i = 0; i < SIZE; i++)
      for (int j = 0; j < SIZE; j++) sum += values[k][i][j] * ((i + j) % 5);
  printf("%.3f\n", sum);
  return 0;
}
