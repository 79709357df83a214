// Threads that wait at different constructs would hang: the job ends instead.
// ranks: 2 3
// flags: -g
// reference: nothing.out
// expect-exit: 70
// expect-stderr: the threads of the parallel region at
// expect-stderr: barriers-differ.c:13 wait at different places: this one at
#include <omp.h>

static void wait(void);

int main(void) {
#pragma omp parallel
  {
    if (omp_get_thread_num() == 0) wait();
  }
  return 0;
}

static void wait(void) {
#pragma omp barrier
}
