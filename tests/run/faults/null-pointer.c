// A stray pointer in a region ends the job with the rank, the source line and the address.
// ranks: 2 3
// flags: -g
// reference: nothing.out
// expect-exit: 70
// expect-stderr: segmentation fault at null-pointer.c:14: address 0x10 (memory that the ranks do not share
#include <omp.h>
#include <stddef.h>

int main(void) {
#pragma omp parallel
  {
    int *volatile stray = (int *)0x10;
    if (omp_get_thread_num() == 1) *stray = 1;
  }
  return 0;
}
