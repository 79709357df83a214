// OKL_VERIFY=1 names the variable that two ranks write between synchronisations, and the region.
// ranks: 2 3
// flags: -g
// env: OKL_VERIFY=1
// compare: sorted
// expect-stderr: both changed 1 bytes at
// expect-stderr: (counter + 0 of
// expect-stderr: without a synchronisation between them: a data race
#include <stdio.h>

int counter;

int main(void) {
#pragma omp parallel
  counter++;
  printf("%d\n", counter > 0);
  return 0;
}
