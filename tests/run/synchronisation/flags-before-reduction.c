// A thread sets a flag and goes on to the region's reduction; another one looks at the flag for the first time only then, and
// asks what the first one has yet to release. (Found by random pipelines: the rank that waited in the reduction did not
// answer.)
// threads: any
// env: OKL_FLAGS=ranks
// warns: parallel region runs on rank 0 alone: it waits for a flag that another thread sets
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

enum { N = 1000, ROUNDS = 3 };
static int values[N], ready[ROUNDS];

int main(void) {
  long sum = 0;
  for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel reduction(+ : sum)
    {
      int last = omp_get_num_threads() - 1;
      if (omp_get_thread_num() == 0) {
        for (int i = 0; i < N; i++)
          values[i] = i + round;
        ready[round] = 1;
      }
      if (omp_get_thread_num() == last) {
        usleep(100000);
        while (ready[round] == 0) {
#pragma omp flush
        }
        for (int i = 0; i < N; i++)
          sum += values[i];
      }
    }
  }
  printf("%ld\n", sum);
  return 0;
}
