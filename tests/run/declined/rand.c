// rand in a region: one sequence for the whole team, so that rank 0's threads take what there is of it, in any order.
// threads: any
// flags: -gline-tables-only
// warns: rand.c:14:
// warns: parallel region runs on rank 0 alone: it calls rand, which keeps state in the C library
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  int a[100];
  long sum = 0;
  srand(3);
#pragma omp parallel for
  for (int i = 0; i < 100; i++)
    a[i] = rand() % 1000;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += a[i];
  printf("%ld\n", sum);
  return 0;
}
