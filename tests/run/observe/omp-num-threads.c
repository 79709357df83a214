// Without optimisation nothing is known of what a region accesses: it has all threads of each rank even so.
// reference: omp-num-threads.out
// ranks: 2
// env: OMP_NUM_THREADS=3
// opt: -O0
// skip-with: OKL_VERIFY=1
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
