// abort() and a failed assertion on one rank end the job.
// reference: none
// ranks: 1 3
// opt: -O2
// limit: 20
// expect-exit: failure
// expect-stderr: Assertion
#include <assert.h>
#include <stdio.h>

int main(void) {
  int a[100];
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {
    a[i] = i;
    assert(a[i] != 99);
  }
  printf("not reached %d\n", a[5]);
  return 0;
}
