// Regions, tasks, reductions and locks spread over files, with static names repeated in each.
// threads: any
#include "parts.h"
#include <stdio.h>

omp_lock_t lock;
static int state = 1;
static void step(int *out, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) out[i] += state;
  state *= 2;
}

int main(void) {
  int values[100] = {0};
  long total = 0;
  omp_init_lock(&lock);
  for (int round = 0; round < 5; round++) {
    step(values, 100);
    first(values, 100);
    total += second(values, 100);
  }
  omp_destroy_lock(&lock);
  for (int i = 0; i < 100; i++) total += values[i];
  printf("%ld\n", total);
  return 0;
}
