// The unsafe call is in another source file: seen when the whole program is known, at start-up.
// threads: any
// ranks: 2 3 4
// expect-stderr: runs on rank 0 alone: it calls rand, which keeps state in the C library
#include <stdio.h>
#include <stdlib.h>

int draw(int limit);

int main(void) {
  int a[40], sum = 0;
  srand(5);
#pragma omp parallel for ordered
  for (int i = 0; i < 40; i++) {
#pragma omp ordered
    a[i] = draw(1000);
  }
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 40; i++) sum += a[i] * i;
  printf("%d\n", sum);
  return 0;
}
