// Some threads take locks, whose acquisition drops and closes pages, while others write to the same pages without any:
// nothing that they write is lost. Locks are left from thread to thread, and go from rank to rank.
// ranks: 1 2 3
// threads: any
// env: OMP_NUM_THREADS=3
// skip-with: OKL_VERIFY=1
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 150, SLOTS = 9000, LOCKS = 3 };

static unsigned char bytes[SLOTS];
static long protected_sums[LOCKS], atomic_sum, captured, critical_sum;
static omp_lock_t locks[LOCKS];
static omp_nest_lock_t nest;
static long nested;

int main(void) {
  for (int i = 0; i < LOCKS; i++) omp_init_lock(&locks[i]);
  omp_init_nest_lock(&nest);
  long wrong = 0;
  int size = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    int me = omp_get_thread_num(), threads = omp_get_num_threads();
    unsigned seed = 77u * me + 5;
    long *own = calloc(50, sizeof *own);
#pragma omp single
    size = threads;
    for (int round = 1; round <= ROUNDS; round++) {
      seed = seed * 1664525u + 1013904223u;
      // Bytes of this thread, among those of all others.
      for (int i = me; i < SLOTS; i += threads * (1 + (int)(seed >> 28))) bytes[i] = (unsigned char)(round + i);
      int which = (int)(seed >> 16) % LOCKS;
      switch ((seed >> 8) % 5) {
      case 0:
        omp_set_lock(&locks[which]);
        protected_sums[which] += me + 1;
        omp_unset_lock(&locks[which]);
        break;
      case 1:
        if (omp_test_lock(&locks[which])) {
          protected_sums[which] += me + 1;
          omp_unset_lock(&locks[which]);
        } else {
#pragma omp critical
          critical_sum += me + 1;
        }
        break;
      case 2:
#pragma omp atomic
        atomic_sum += me + 1;
        break;
      case 3:
        omp_set_nest_lock(&nest);
        omp_set_nest_lock(&nest);
        nested += me + 1;
        omp_unset_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
        break;
      default: {
        long seen;
#pragma omp atomic capture
        seen = captured += me + 1;
        if (seen < me + 1) wrong++;
#pragma omp flush
      }
      }
      own[round % 50] += me + 1;
      for (int i = me; i < SLOTS; i += threads * 16)
        if (bytes[i] != (unsigned char)(round + i) && (seed >> 28) == 0) wrong++;
    }
    for (int i = me; i < SLOTS; i += threads) bytes[i] = (unsigned char)(i * 3);
    long sum = 0;
    for (int i = 0; i < 50; i++) sum += own[i];
    if (sum != (long)ROUNDS * (me + 1)) wrong++;
    free(own);
  }
  for (int i = 0; i < SLOTS; i++)
    if (bytes[i] != (unsigned char)(i * 3)) wrong++;
  long all = atomic_sum + captured + critical_sum + nested;
  for (int i = 0; i < LOCKS; i++) all += protected_sums[i];
  long expected = (long)ROUNDS * size * (size + 1) / 2;
  printf("%ld wrong, %s\n", wrong, all == expected ? "all counted" : "some lost");
  return 0;
}
