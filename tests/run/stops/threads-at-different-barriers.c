// Two threads of one rank wait at different places.
// ranks: 2
// opt: -O2
// env: OMP_NUM_THREADS=2
// expect-exit: failure
// skip-with: OKL_VERIFY=1
// reference: none
// expect-stderr: wait at different places: thread 
// expect-stderr: OpenMP demands that all threads of a team meet the same barriers
#include <omp.h>
#include <stdlib.h>

int main(void) {
  int *a = calloc(1000, sizeof *a);
#pragma omp parallel
  {
    if (omp_get_thread_num() == 1) {
#pragma omp barrier
    }
    a[omp_get_thread_num()] = 1;
  }
  return a[0] - 1;
}
