// A structure passed by value: the callee changes its copy, not the shared one.
// threads: any
#include <stdio.h>
#include <stdlib.h>

struct item {
  double value[5];
  long tag;
};

static __attribute__((noinline)) double weigh(struct item one, double by) {
  one.tag = 0;
  for (int k = 0; k < 5; k++) one.value[k] *= by;
  return one.value[0] + one.value[4] + one.tag;
}

int main(void) {
  enum { n = 5000 };
  struct item *all = malloc(n * sizeof *all);
  double *weight = malloc(n * sizeof *weight);
#pragma omp parallel for
  for (int i = 0; i < n; i++) all[i] = (struct item){{i, 1, 2, 3, i % 7}, i};
  for (int round = 0; round < 3; round++) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) weight[i] = weigh(all[(i + round) % n], 0.5);
#pragma omp parallel for
    for (int i = 0; i < n; i++) all[i].value[1] += weight[n - 1 - i];
  }
  double sum = 0;
  for (int i = 0; i < n; i++) sum = sum * 0.999 + weight[i] + all[i].tag + all[i].value[1];
  printf("%.15g\n", sum);
  free(all);
  free(weight);
  return 0;
}
