// ranks: 1 2 3 4
// opt: -O0 -O2
// compare: exact
//
// Integer sort: kernel IS of the NAS parallel benchmarks, class S (2^16 keys
// below 2^11, ten rankings), written from its published description. Every
// thread counts its own keys into its own row of a table; the columns of the
// table are then summed in parallel. One parallel region holds the whole run.
#include "lcg46.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 1 << 16, MAX_KEY = 1 << 11, ITERATIONS = 10, PROBES = 5, BLOCK = 1 << 10 };

static const int probe_at[PROBES] = {48427, 17148, 23627, 62548, 4431};
static const int probe_rank[PROBES] = {0, 18, 346, 64917, 65463};

static int keys[KEYS], sorted[KEYS];
static int smaller[MAX_KEY + 1];  // how many keys are smaller than this one
static int (*counts)[MAX_KEY];    // one row for each thread

static void make_keys(void) {
#pragma omp for schedule(static)
  for (int block = 0; block < KEYS / BLOCK; block++) {
    uint64_t seed = lcg_jump(314159265, 4 * (uint64_t)BLOCK * block);
    for (int i = block * BLOCK; i < (block + 1) * BLOCK; i++) {
      double sum = 0;
      for (int k = 0; k < 4; k++)
        sum += lcg_next(&seed);
      keys[i] = (int)(MAX_KEY / 4 * sum);
    }
  }
}

// Fills `smaller`, and in row t of `counts` the number of equal keys that
// threads before t hold.
static void rank_keys(void) {
  int *mine = counts[omp_get_thread_num()];
  memset(mine, 0, sizeof counts[0]);
#pragma omp for schedule(static)
  for (int i = 0; i < KEYS; i++)
    mine[keys[i]]++;
#pragma omp for schedule(static)
  for (int key = 0; key < MAX_KEY; key++) {
    int before = 0;
    for (int t = 0; t < omp_get_num_threads(); t++) {
      int own = counts[t][key];
      counts[t][key] = before;
      before += own;
    }
    smaller[key + 1] = before;
  }
#pragma omp single
  {
    smaller[0] = 0;
    for (int key = 0; key < MAX_KEY; key++)
      smaller[key + 1] += smaller[key];
  }
}

// Class S moves the first three probes up and the others down with each iteration.
static int probes_passed(int iteration) {
  int passed = 0;
  for (int i = 0; i < PROBES; i++) {
    int expected = probe_rank[i] + (i <= 2 ? iteration : -iteration);
    passed += smaller[keys[probe_at[i]]] == expected;
  }
  return passed;
}

int main(void) {
  int passed = 0, ordered_pairs = 0;
  long sum = 0, sorted_sum = 0;
  counts = malloc(omp_get_max_threads() * sizeof *counts);

#pragma omp parallel
  {
    make_keys();
    for (int iteration = 1; iteration <= ITERATIONS; iteration++) {
#pragma omp single
      {
        keys[iteration] = iteration;
        keys[iteration + ITERATIONS] = MAX_KEY - iteration;
      }
      rank_keys();
#pragma omp master
      passed += probes_passed(iteration);
#pragma omp barrier
    }

    int *next = counts[omp_get_thread_num()];
#pragma omp for schedule(static)
    for (int i = 0; i < KEYS; i++) {
      int key = keys[i];
      sorted[smaller[key] + next[key]++] = key;
    }
#pragma omp for reduction(+ : ordered_pairs, sum, sorted_sum)
    for (int i = 0; i < KEYS; i++) {
      ordered_pairs += i == 0 || sorted[i - 1] <= sorted[i];
      sum += (long)keys[i] * keys[i];
      sorted_sum += (long)sorted[i] * sorted[i];
    }
  }

  for (int i = 0; i < KEYS; i += 8191)
    printf("sorted[%d] = %d\n", i, sorted[i]);
  printf("IS class S: %d of %d probes, %d of %d in order, sums of squares %ld %ld\n", passed,
         PROBES * ITERATIONS, ordered_pairs, KEYS, sum, sorted_sum);
  int right = passed == PROBES * ITERATIONS && ordered_pairs == KEYS && sum == sorted_sum;
  printf("verification %s\n", right ? "successful" : "failed");
  free(counts);
  return !right;
}
