// A thread that waits for a flag with flush, and does not read it atomically, sees it only where the other synchronises.
// threads: any
// flags: -gline-tables-only
// warns: spin-flag.c:15:
// warns: parallel region runs on rank 0 alone: it waits with a flush for another thread to change a variable, but does not read it atomically: what a thread writes arrives where it synchronises itself
#include <omp.h>
#include <stdio.h>

// Other files may do with it what they like.
int ready[64];
static int data[64];

int main(void) {
  int last = 0;
#pragma omp parallel
  {
    int me = omp_get_thread_num(), team = omp_get_num_threads();
    if (me > 0) {
      while (!ready[me - 1]) {
#pragma omp flush
      }
    }
    data[me] = (me > 0 ? data[me - 1] : 40) + 1;
#pragma omp flush
    ready[me] = 1;
#pragma omp flush
    if (me == team - 1) last = data[me] - me;
  }
  printf("%d\n", last);
  return 0;
}
