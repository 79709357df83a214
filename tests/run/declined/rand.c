// rand in a region: one sequence for the whole team, so the team has one thread.
// threads: 1
// flags: -gline-tables-only
// warns: rand.c:14:
// warns: parallel region runs on rank 0 alone: it calls rand, which keeps state in the C library
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  int a[100], team = 0;
  long sum = 0;
  srand(3);
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {
    a[i] = rand() % 1000;
    team = omp_get_num_threads();
  }
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += a[i] * (long)i;
  printf("%ld %d\n", sum, team);
  return 0;
}
