// exit() in a region ends all ranks with its status.
// ranks: 2 3
// reference: nothing.out
// expect-exit: 7
#include <omp.h>
#include <stdlib.h>

int main(void) {
#pragma omp parallel
  {
    if (omp_get_thread_num() == omp_get_num_threads() - 1) exit(7);
#pragma omp barrier
  }
  return 0;
}
