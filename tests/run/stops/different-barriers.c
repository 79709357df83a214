// A thread that ends the region while the others are at a barrier is reported instead of hanging.
// reference: none
// flags: -gline-tables-only
// ranks: 2
// limit: 20
// expect-exit: failure
// expect-stderr: wait at different places:
// expect-stderr: different-barriers.c:14
#include <omp.h>
#include <stdio.h>

int main(void) {
  int a[4] = {0};
#pragma omp parallel
  {
    a[omp_get_thread_num()] = 1;
    if (omp_get_thread_num() == 1) {
#pragma omp barrier
    }
  }
  printf("not reached %d\n", a[0]);
  return 0;
}
