// Each thread scatters by its counters, and beside it, without a barrier between, threads run code that cannot be described:
// first one of them, then each, in front of its own scatter or behind it.
// threads: any
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEYS = 60000, BUCKETS = 32, SHIFT = 7, VALUES = BUCKETS << SHIFT, THREADS = 32, PART = 500, TIMES = 6 };

static int keys[KEYS], sorted[KEYS], next[BUCKETS];
#pragma omp threadprivate(next)
static int *counts[THREADS];
static unsigned *places, *hashed;

static unsigned long state = 11;
static unsigned below(unsigned bound) {
  state = state * 6364136223846793005ul + 1;
  return (unsigned)(state >> 33) % bound;
}

// Where it reads and writes its part depends on what it finds there.
__attribute__((noinline)) static void undescribed(int part, unsigned seed) {
  unsigned *own = hashed + part * PART, at = seed % PART;
  for (int k = 0; k < 2 * PART; k++) {
    own[at] = own[at] * 5 + places[at] + 1;
    at = (at + own[(at + 7) % PART]) % PART;
  }
}

__attribute__((noinline)) static void sort(int time) {
#pragma omp parallel
  {
    int me = omp_get_thread_num(), team = omp_get_num_threads();
    int *own = counts[me];
    for (int b = 0; b < BUCKETS; b++) own[b] = 0;
#pragma omp for schedule(static)
    for (int i = 0; i < KEYS; i++) own[keys[i] >> SHIFT]++;
    next[0] = 0;
    for (int k = 0; k < me; k++) next[0] += counts[k][0];
    for (int b = 1; b < BUCKETS; b++) {
      next[b] = next[b - 1];
      for (int k = 0; k < me; k++) next[b] += counts[k][b];
      for (int k = me; k < team; k++) next[b] += counts[k][b - 1];
    }
#pragma omp for schedule(static) nowait
    for (int part = 0; part < THREADS; part++)
      if (time % 3 == 1 || (time % 3 == 2 && part == time)) undescribed(part, time);
#pragma omp for schedule(static) nowait
    for (int i = 0; i < KEYS; i++) {
      int key = keys[i];
      sorted[next[key >> SHIFT]++] = key;
    }
#pragma omp for schedule(static)
    for (int part = 0; part < THREADS; part++)
      if (time % 3 == 0 || part == 5) undescribed(part, time + 1);
  }
}

int main(void) {
  places = malloc(PART * sizeof *places);
  hashed = malloc(THREADS * PART * sizeof *hashed);
  for (int i = 0; i < THREADS; i++) counts[i] = malloc(BUCKETS * sizeof *counts[i]);
  for (int i = 0; i < PART; i++) places[i] = below(1000);
  for (int i = 0; i < THREADS * PART; i++) hashed[i] = below(1u << 20);
  for (int time = 0; time < TIMES; time++) {
    for (int i = 0; i < KEYS; i++) keys[i] = (below(VALUES) + below(VALUES)) / 2;
    sort(time);
    unsigned long sum = 0, wrong = 0;
    for (int i = 0; i < KEYS; i++) {
      wrong += i > 0 && sorted[i] >> SHIFT < sorted[i - 1] >> SHIFT;
      sum = sum * 31 + sorted[i];
    }
    unsigned long hash = 0;
    for (int i = 0; i < THREADS * PART; i++) hash = hash * 31 + hashed[i];
    printf("%d: %lu wrong, %lu %lu\n", time, wrong, sum, hash);
  }
}
