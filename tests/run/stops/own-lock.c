// Waiting for a lock that the thread holds itself is reported instead of hanging.
// env: OKL_BACKEND=mpi
// reference: none
// ranks: 1 2
// opt: -O2
// limit: 20
// expect-exit: failure
// expect-stderr: waits for a lock that it holds itself
#include <omp.h>
#include <stdio.h>

int main(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel
  {
#pragma omp master
    {
      omp_set_lock(&lock);
      omp_set_lock(&lock);
    }
  }
  printf("not reached\n");
  return 0;
}
