// All threads of a rank fault at the same variable again and again, and one of them is always faster.
// ranks: 2
// threads: any
// env: OMP_NUM_THREADS=2
// env: OKL_RANKS_PER_NODE=1
// opt: -O2
#include <omp.h>
#include <stdio.h>

enum { size = 256, rounds = 1500 };
static long a[size];
static long newest;

int main(void) {
#pragma omp parallel
  {
    int is_last = omp_get_thread_num() == omp_get_num_threads() - 1;
    for (int round = 0; round < rounds; round++) {
      if (is_last) newest = round;
#pragma omp barrier
#pragma omp for
      for (int i = 0; i < size; i++) a[i] += newest + i;
    }
  }
  long sum = 0;
  for (int i = 0; i < size; i++) sum += a[i];
  printf("%ld\n", sum);
  return 0;
}
