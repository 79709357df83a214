// What a program frees goes back to the machine, whoever had copies of it: blocks of growing sizes, of which one fits where
// the one before was now and then, take no more memory in the end than what is left. What they hold is what was written last.
#include <stdio.h>
#include <stdlib.h>

#include "resident.h"

enum { ROUNDS = 4 };

static double *grown(double *old, long count, int round) {
  switch (round % 3) {
    case 0: free(old); return malloc(count * sizeof *old);
    case 1: free(old); return calloc(count, sizeof *old);
    default: return realloc(old, count * sizeof *old);
  }
}

int main(void) {
  double *a = NULL, *between[ROUNDS];
  long most = 0, wrong = 0, count = 0;
  for (int round = 0; round < ROUNDS; round++) {
    count = (40 + 2 * round) * (1l << 20) / sizeof *a;
    a = grown(a, count, round);
    // What lies between keeps the next one from taking the place of this one.
    between[round] = malloc(100000);
    if (!a || !between[round]) return 1;
    if (round % 3 == 1) wrong += a[count / 2] != 0;
    if (round % 2) {
      for (long i = 0; i < count; i += 100) a[i] = -1;
    }
#pragma omp parallel for
    for (long i = 0; i < count; i++) a[i] = (double)(i ^ round);
    // Each thread reads what another one wrote.
#pragma omp parallel for reduction(+ : wrong)
    for (long i = 0; i < count; i++) wrong += a[count - 1 - i] != (double)((count - 1 - i) ^ round);
    for (long i = 0; i < count; i += 700) wrong += a[i] != (double)(i ^ round);
    double *shorter = realloc(a, count / 8 * sizeof *a);
    wrong += shorter != a;
    // Some regions later it is gone.
    for (int times = 0; times < 2; times++) {
#pragma omp parallel for reduction(+ : wrong)
      for (long i = 0; i < count / 8; i++) wrong += a[i] != (double)(i ^ round);
    }
    long now = resident();
    most = now > most ? now : most;
  }
  // All have at most 7 MiB then.
  if (most > 20) printf("%ld MiB are still taken\n", most);
  free(a);
  for (int round = 0; round < ROUNDS; round++) free(between[round]);
  printf("%ld wrong\n", wrong);
  return 0;
}
