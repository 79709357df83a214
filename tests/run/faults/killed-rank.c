// A rank that dies takes the job with it: nobody waits for it.
// ranks: 2 3
// reference: nothing.out
// expect-exit: 132
// expect-stderr: exited on signal 4 (Illegal instruction)
#include <omp.h>

int main(void) {
#pragma omp parallel
  {
    if (omp_get_thread_num() == 1) __builtin_trap();
#pragma omp barrier
  }
  return 0;
}
