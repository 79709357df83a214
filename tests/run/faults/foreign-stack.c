// A write to another thread's private variable cannot be carried to it: the job ends naming it.
// ranks: 2 3
// flags: -g
// reference: nothing.out
// expect-exit: 70
// expect-stderr: (the private memory of rank 0) was written by another rank
#include <omp.h>

int *shared;

int main(void) {
#pragma omp parallel
  {
    int mine = 0;
    if (omp_get_thread_num() == 0) shared = &mine;
#pragma omp barrier
    if (omp_get_thread_num() == 1) *shared = 1;
#pragma omp barrier
  }
  return 0;
}
