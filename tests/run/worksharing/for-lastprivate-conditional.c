// lastprivate(conditional:): the value that the sequentially last assignment gave, or the old one.
// On one rank the threads are libomp's, which loses the last value of a dynamic loop when they steal chunks from each
// other.
// threads: any
// env: KMP_FORCE_MONOTONIC_DYNAMIC_SCHEDULE=1
// flags: -fopenmp-version=51
#include <stdio.h>

int main(void) {
  int values[1000];
  for (int i = 0; i < 1000; i++) values[i] = i * 7919 % 1000;
  int last_small = -1, never = -2;
  double last_large = 0;
#pragma omp parallel for lastprivate(conditional : last_small, never)
  for (int i = 0; i < 1000; i++) {
    if (values[i] < 20) last_small = i;
    if (values[i] > 1000) never = i;
  }
  printf("%d %d\n", last_small, never);
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 7) lastprivate(conditional : last_large)
    for (int i = 0; i < 1000; i++)
      if (values[i] > 900 && i < 700) last_large = i + 0.5;
  }
  printf("%.1f\n", last_large);
  for (int end = 1; end < 1000; end *= 3) {
    int last = 0;
#pragma omp parallel for schedule(static, 3) lastprivate(conditional : last)
    for (int i = 0; i < end; i++)
      if (i % 5 == 0) last = i;
    printf("%d ", last);
  }
  printf("\n");
  return 0;
}
