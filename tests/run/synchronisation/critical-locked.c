// Critical sections that look as if their updates could come apart, but could be told if they did.
// threads: any
#include <stdio.h>
#include <stdlib.h>

#define FAR 4096

static long pair[2 * FAR], doubled[2], chain_a, chain_b, log_of[1000];
static int scale = 1;

static long twice(long x) { return 2 * x; }

static void overlapping(long *counts, long *sums, int n) {
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < n; i++) {
#pragma omp critical(overlapping)
    {
      counts[0] += 1;
      sums[0] += counts[0];
    }
  }
}

int main(void) {
  long wrong = 0, hits = 0, largest = -1, of_largest = -1, ticket = 0, powers = 1, steps = 0;
  long *shared = calloc(4, sizeof *shared), seen = 0;
#pragma omp parallel for schedule(static, 1) reduction(+ : wrong)
  for (int i = 0; i < 120; i++) {
    // Two places that one section changes together and another one compares.
#pragma omp critical(pair)
    {
      pair[0] += i;
      pair[2 * FAR - 1] += i;
    }
#pragma omp critical(pair)
    if (pair[0] != pair[2 * FAR - 1]) wrong++;
    // A section that assigns what another one adds to.
#pragma omp critical(doubled)
    doubled[0] += 1;
#pragma omp critical(doubled)
    {
      long value = doubled[0];
      doubled[0] = twice(value) - value;
    }
    // A number taken from what is updated.
#pragma omp critical(chain)
    {
      chain_a += 1;
      chain_b += chain_a;
    }
#pragma omp critical(ticket)
    log_of[ticket++] = 1;
    // Where the largest is.
    long value = i * 37 % 113;
#pragma omp critical(where)
    if (value > largest || (value == largest && i < of_largest)) {
      largest = value;
      of_largest = i;
    }
    // Different operations on one object.
#pragma omp critical(powers)
    {
      powers += 1;
      powers ^= 0;
      powers = powers < 1000 ? powers : 1;
    }
    // A branch on the old value that does something else.
#pragma omp critical(steps)
    if (steps < 50)
      steps++;
    else
      hits++;
    // What the update is by is changed by a section of the same name.
#pragma omp critical(scaled)
    {
      seen += scale;
    }
#pragma omp critical(scaled)
    {
      scale = 3;
      scale = 1;
    }
    // Through two pointers to the same.
    long *alias = shared;
#pragma omp critical(alias)
    {
      shared[1] += 2;
      alias[1] = alias[1] - 1;
      shared[i % 4] |= 0;
    }
  }
  long both[1] = {0};
  overlapping(both, both, 1);
  long apart[2] = {0, 0};
  overlapping(apart, apart + 1, 40);
  long logged = 0;
  for (int i = 0; i < 1000; i++) logged += log_of[i];
  printf("%ld %ld %ld %ld %ld\n", wrong, doubled[0], chain_a, chain_b, logged);
  printf("%ld %ld %ld %ld %ld %ld\n", largest, of_largest, powers, steps, hits, seen);
  printf("%ld %ld %ld %ld\n", shared[1], both[0], apart[0], apart[1]);
  free(shared);
  return 0;
}
