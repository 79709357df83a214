// The same while the other ranks are in a long region.
// reference: none
// ranks: 3
// opt: -O2
// limit: 60
// expect-exit: failure
// expect-stderr: signal
#include <omp.h>
#include <stdio.h>

int main(void) {
  static double a[64];
#pragma omp parallel
  {
    int me = omp_get_thread_num();
    if (me == 2) __builtin_trap();
    // A minute of work.
    for (long k = 0; k < 20000000000L; k++) a[me] = a[me] * 0.5 + 1;
#pragma omp barrier
  }
  printf("not reached %f\n", a[0]);
  return 0;
}
