// Without optimisation nothing is known of what a region accesses: it has one thread on each rank, and that
// is reported.
// reference: omp-num-threads.out
// ranks: 2
// env: OMP_NUM_THREADS=3
// opt: -O0
// skip-with: OKL_VERIFY=1
// expect-stderr: warning: the parallel region in function main has one thread on each rank, 2 threads and not 6
#include <omp.h>
#include <stdio.h>

int main(void) {
  int size = 0;
#pragma omp parallel
  {
#pragma omp master
    size = omp_get_num_threads();
  }
  printf("%d\n", size);
  return 0;
}
