// A region reaches variables of its caller's callers through pointers.
#include <stdio.h>

static void fill(int *out, int n, int *calls) {
  int factor = *calls + 2;
#pragma omp parallel for
  for (int i = 0; i < n; i++) out[i] += i * factor;
  ++*calls;
}

static void deeper(int *out, int n, int *calls, int depth) {
  int local[50];
  for (int i = 0; i < 50; i++) local[i] = depth;
  if (depth > 0) deeper(local, 50, calls, depth - 1);
  fill(out, n, calls);
  for (int i = 0; i < n; i++) out[i] += local[i % 50];
}

int main(void) {
  int out[50] = {0}, calls = 0;
  deeper(out, 50, &calls, 6);
  for (int i = 0; i < 50; i++) printf("%d ", out[i]);
  printf("\ncalls %d\n", calls);
  return 0;
}
