// Writing another thread's local variable is named with the line, not lost.
// reference: none
// flags: -gline-tables-only
// opt: -O0
// ranks: 2 3
// limit: 20
// expect-exit: failure
// expect-stderr: pointer-to-private-variable.c:21: address
// expect-stderr: the private memory of rank 0
#include <omp.h>
#include <stdio.h>

static int *leaked;

int main(void) {
#pragma omp parallel
  {
    int local = 40 + omp_get_thread_num();
    if (omp_get_thread_num() == 0) leaked = &local;
#pragma omp barrier
    if (omp_get_thread_num() == omp_get_num_threads() - 1) *leaked = 7;
#pragma omp barrier
    if (local != 40) printf("%d\n", local);
  }
  return 0;
}
