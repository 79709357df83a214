#include "parts.h"

static long state;
static void step(int value) {
  omp_set_lock(&lock);
  state += value;
  omp_unset_lock(&lock);
}

long second(int *out, int n) {
#pragma omp parallel for schedule(static, 10)
  for (int i = 0; i < n; i += 4) step(out[i]);
  return state;
}
