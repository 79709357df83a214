// A nest lock may be set again by its holder and is free after as many unsets.
// threads: any
#include <omp.h>
#include <stdio.h>

static omp_nest_lock_t lock;
static long total;

static void add(int depth, long value) {
  omp_set_nest_lock(&lock);
  total += value;
  if (depth > 0) add(depth - 1, value);
  omp_unset_nest_lock(&lock);
}

int main(void) {
  omp_init_nest_lock(&lock);
#pragma omp parallel for schedule(static, 2)
  for (int i = 0; i < 50; i++) add(i % 4, i);
  int depth = omp_test_nest_lock(&lock);
  depth = depth * 10 + omp_test_nest_lock(&lock);
  printf("%ld %d\n", total, depth);
  omp_unset_nest_lock(&lock);
  omp_unset_nest_lock(&lock);
  omp_destroy_nest_lock(&lock);
  return 0;
}
