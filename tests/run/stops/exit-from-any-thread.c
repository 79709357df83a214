// exit() called by the last thread of the team ends all ranks with its code.
// threads: ranks
// ranks: 1 2 4
// limit: 20
// expect-exit: 6
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  printf("started\n");
  fflush(stdout);
#pragma omp parallel
  {
    if (omp_get_thread_num() == omp_get_num_threads() - 1) exit(6);
#pragma omp barrier
  }
  return 0;
}
