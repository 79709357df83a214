// Regions opened from different depths of a recursive function.
#include <stdio.h>

static long levels(int depth, long *trace) {
  long sum = 0;
  int weight = depth * depth;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 20; i++) sum += i * weight;
  trace[depth] = sum;
  if (depth == 0) return sum;
  long below = levels(depth - 1, trace);
#pragma omp parallel for
  for (int i = 0; i < 12; i++)
    if (i <= depth) trace[i] += below % 11;
  return sum + below;
}

int main(void) {
  long trace[12] = {0};
  printf("%ld\n", levels(11, trace));
  for (int i = 0; i < 12; i++) printf("%ld ", trace[i]);
  printf("\n");
  return 0;
}
