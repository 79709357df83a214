// Freeing a block twice is reported with the line.
// env: OKL_BACKEND=mpi
// reference: none
// flags: -gline-tables-only -Wno-everything
// ranks: 1 2
// opt: -O0
// limit: 20
// expect-exit: failure
// expect-stderr: double-free.c:18
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  int *volatile block = malloc(100 * sizeof *block), sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += block[i] = i;
  free(block);
  free(block);
  printf("not reached %d\n", sum);
  return 0;
}
