// A null pointer used in a region ends the job with the line of the access.
// reference: none
// flags: -gline-tables-only
// opt: -O0
// ranks: 2 4
// limit: 20
// expect-exit: failure
// expect-stderr: null-pointer.c:17
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
