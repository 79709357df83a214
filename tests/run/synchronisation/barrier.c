// Barriers order the writes of all threads before the reads of all threads, many times.
// threads: any
#include <omp.h>
#include <stdio.h>

int main(void) {
  static int a[8], wrong;
#pragma omp parallel
  {
    int me = omp_get_thread_num(), team = omp_get_num_threads(), bad = 0;
    for (int round = 1; round <= 200; round++) {
      a[me] = round * 10 + me;
#pragma omp barrier
      for (int t = 0; t < team; t++) bad += a[t] != round * 10 + t;
#pragma omp barrier
    }
#pragma omp atomic
    wrong += bad;
  }
  printf("%d\n", wrong);
  return 0;
}
