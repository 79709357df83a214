// A thread that waits for its own lock is told so.
// ranks: 2
// reference: nothing.out
// expect-exit: 70
// expect-stderr: a thread waits for a lock that it holds itself: a deadlock in the program
#include <omp.h>

omp_lock_t lock;

int main(void) {
  omp_init_lock(&lock);
#pragma omp parallel
  {
#pragma omp master
    {
      omp_set_lock(&lock);
      omp_set_lock(&lock);
    }
  }
  return 0;
}
