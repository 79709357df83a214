// What was written before a release fence and a relaxed store is seen after a relaxed load that finds the
// stored value and an acquire fence. Nobody waits: who comes too early asks again later, and the last one
// to arrive finds what all others wrote.
// threads: any
#include <stdatomic.h>
#include <stdio.h>

static int data[8][1500];
static atomic_int ready[8];
static atomic_int left;

int main(void) {
  long wrong = 0, added = 0;
  for (int round = 1; round <= 10; round++) {
#pragma omp parallel reduction(+ : wrong)
    {
      // Everybody has a copy of all pages.
      for (int i = 0; i < 8; i++)
        for (int j = 0; j < 1500; j++) wrong += data[i][j] != round - 1;
#pragma omp barrier
#pragma omp for schedule(static, 1) nowait
      for (int i = 0; i < 8; i++) {
        for (int j = 0; j < 1500; j++) data[i][j] = round;
        atomic_thread_fence(memory_order_release);
        atomic_store_explicit(&ready[i], round, memory_order_relaxed);
      }
      for (int attempt = 0; attempt < 4; attempt++)
        for (int i = 0; i < 8; i++)
          if (atomic_load_explicit(&ready[i], memory_order_relaxed) == round) {
            atomic_thread_fence(memory_order_acquire);
            for (int j = 0; j < 1500; j++) wrong += data[i][j] != round;
          }
    }
  }
  for (int round = 0; round < 5; round++) {
    atomic_store(&left, 64);
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < 64; i++) {
      data[i % 8][i] = i + round;
      atomic_thread_fence(round % 2 ? memory_order_seq_cst : memory_order_acq_rel);
      if (atomic_fetch_sub_explicit(&left, 1, memory_order_relaxed) == 1) {
        atomic_thread_fence(round % 2 ? memory_order_seq_cst : memory_order_acq_rel);
        for (int j = 0; j < 64; j++) added += data[j % 8][j];
      }
    }
  }
  printf("%ld wrong\n%ld\n", wrong, added);
  return 0;
}
