// A null pointer used in a region ends the job with the line of the access.
// reference: none
// flags: -gline-tables-only
// opt: -O0
// ranks: 2 4
// limit: 20
// expect-exit: failure
// expect-stderr: segmentation fault at null-pointer.c:17: address 0x0 (memory that the ranks do not share: a null or stray pointer, or one into a library's own memory) was
#include <omp.h>
#include <stdio.h>

int main(void) {
  int *volatile nothing = NULL;
#pragma omp parallel
  {
    if (omp_get_thread_num() == 1)
      *nothing = 5;
#pragma omp barrier
  }
  printf("not reached\n");
  return 0;
}
