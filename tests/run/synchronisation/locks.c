// Simple locks around plain data, initialised with and without a hint, in an array and on the heap.
// threads: any
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  omp_lock_t one, many[5], *heap = malloc(sizeof *heap);
  int sum = 0, part[5] = {0}, product = 1;
  omp_init_lock(&one);
  omp_init_lock_with_hint(heap, omp_sync_hint_speculative);
  for (int k = 0; k < 5; k++) omp_init_lock(&many[k]);
#pragma omp parallel for schedule(static, 3)
  for (int i = 0; i < 100; i++) {
    omp_set_lock(&one);
    sum += i;
    omp_unset_lock(&one);
    omp_set_lock(&many[i % 5]);
    part[i % 5] += i * i;
    omp_unset_lock(&many[i % 5]);
    if (i % 25 == 0) {
      omp_set_lock(heap);
      product = product * 3 % 1000;
      omp_unset_lock(heap);
    }
  }
  printf("%d %d %d %d %d %d %d\n", sum, part[0], part[1], part[2], part[3], part[4], product);
  omp_destroy_lock(&one);
  omp_destroy_lock(heap);
  for (int k = 0; k < 5; k++) omp_destroy_lock(&many[k]);
  free(heap);
  return 0;
}
