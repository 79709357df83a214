// Locks come and go, more of them than there is room for at a time: in serial code, in regions, and where another
// thread than the one that used a lock destroys it and makes it anew.
// opt: -O2
// ranks: 1 2 3
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { MANY = 1100000, OFTEN = 20, WIDE = 300 };

int main(void) {
  omp_lock_t *all = malloc(MANY * sizeof *all);
  for (int i = 0; i < MANY; i++) {
    omp_init_lock(&all[i]);
    omp_set_lock(&all[i]);
    omp_unset_lock(&all[i]);
    omp_destroy_lock(&all[i]);
  }
  int created = 0;
#pragma omp parallel for reduction(+ : created)
  for (int i = 0; i < WIDE; i++) {
    omp_nest_lock_t own;
    omp_init_nest_lock(&own);
    omp_set_nest_lock(&own);
    created += omp_test_nest_lock(&own) == 2;
    omp_unset_nest_lock(&own);
    omp_unset_nest_lock(&own);
    omp_destroy_nest_lock(&own);
  }
  static omp_lock_t shared[4];
  static long counts[4];
  for (int k = 0; k < 4; k++) omp_init_lock(&shared[k]);
#pragma omp parallel
  for (int round = 0; round < OFTEN; round++) {
    for (int i = 0; i < 4; i++) {
      omp_set_lock(&shared[i]);
      counts[i] += 1;
      omp_unset_lock(&shared[i]);
    }
#pragma omp barrier
#pragma omp single
    {
      // Their slots change: other ranks remember those from before.
      for (int k = 0; k < 4; k++) omp_destroy_lock(&shared[(k + round) % 4]);
      for (int k = 0; k < 4; k++) omp_init_lock(&shared[3 - (k + 2 * round) % 4]);
    }
  }
  int threads = 0;
#pragma omp parallel
#pragma omp single
  threads = omp_get_num_threads();
  printf("%d\n", created);
  for (int k = 0; k < 4; k++) {
    printf("%d\n", counts[k] == (long)OFTEN * threads);
    omp_destroy_lock(&shared[k]);
  }
  free(all);
  return 0;
}
