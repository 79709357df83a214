// The same in serial code: the other ranks do not hang.
// env: OKL_BACKEND=mpi
// reference: none
// flags: -gline-tables-only
// opt: -O0
// ranks: 1 3
// limit: 20
// expect-exit: failure
// expect-stderr: null-pointer-in-serial-code.c:16
#include <stdio.h>

int main(void) {
  int *volatile nothing = NULL, sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 10; i++) sum += i;
  *nothing = sum;
  printf("not reached\n");
  return 0;
}
