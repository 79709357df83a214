// Threads tell each other where their private variables are, also those of other ranks.
// ranks: 2
// threads: any
// env: OMP_NUM_THREADS=2
// opt: -O2
// skip-with: OKL_VERIFY=1
#include <omp.h>
#include <stdio.h>

enum { most = 64, length = 100 };
static int *published[most];
static long sums[most];

__attribute__((noinline)) static void publish(int **slot, int *address) { *slot = address; }

int main(void) {
#pragma omp parallel
  {
    int me = omp_get_thread_num(), size = omp_get_num_threads();
    int mine[length];
    for (int i = 0; i < length; i++) mine[i] = i;
    publish(&published[me], mine);
#pragma omp barrier
    for (int i = 0; i < length; i++) sums[me] += published[(me + 1) % size][i];
#pragma omp barrier
  }
  printf("%ld\n", sums[0]);
  return 0;
}
