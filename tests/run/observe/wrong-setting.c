// A setting that makes no sense is an error that says what would.
// reference: none
// ranks: 1 2
// opt: -O2
// env: OKL_STATS=maybe
// limit: 20
// expect-exit: failure
// expect-stderr: OKL_STATS=maybe: valid values are 0 and 1
#include <stdio.h>

int main(void) {
#pragma omp parallel
  printf("not reached\n");
  return 0;
}
