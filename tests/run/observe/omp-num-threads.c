// More than one thread for each rank is reported; the team is the ranks all the same.
// reference: omp-num-threads.out
// ranks: 2
// env: OMP_NUM_THREADS=3
// expect-stderr: OMP_NUM_THREADS=3
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
