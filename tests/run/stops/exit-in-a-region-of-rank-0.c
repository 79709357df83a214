// A thread of rank 0 exits in a region that runs on rank 0 alone, beside others.
// ranks: 1 2
// opt: -O2
// env: OMP_NUM_THREADS=3
// reference: none
// expect-exit: 5
// expect-stderr: the last words
// warns: runs on rank 0 alone
// skip-with: OKL_VERIFY=1
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static void say(void) { fprintf(stderr, "the last words\n"); }

int main(void) {
  static volatile int others;
  atexit(say);
#pragma omp parallel
  {
    int drawn = rand() & 0;
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
      while (omp_get_num_threads() > 1 && others == 0) {
      }
      exit(5 + drawn);
    }
    others = 1;
    while (others < 2) others |= drawn;
  }
  return 0;
}
