// The same with atomic read and write that order nothing.
// threads: any
// warns: parallel region runs on rank 0 alone: it waits for a flag that another thread sets
#include <omp.h>
#include <stdio.h>

static int turn, order[64];

int main(void) {
  int sorted = 1;
#pragma omp parallel
  {
    int me = omp_get_thread_num(), now;
    do {
#pragma omp atomic read
      now = turn;
    } while (now != me);
    order[me] = now;
#pragma omp atomic write
    turn = me + 1;
  }
  for (int t = 0; t < turn; t++) sorted &= order[t] == t;
  printf("%d\n", sorted);
  return 0;
}
