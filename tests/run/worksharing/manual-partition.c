// Iterations dealt out by hand from the thread number, in blocks and round robin.
// threads: any
#include <omp.h>
#include <stdio.h>

int main(void) {
  static int a[1234], b[1234];
#pragma omp parallel
  {
    int me = omp_get_thread_num(), team = omp_get_num_threads();
    int from = 1234 * me / team, to = 1234 * (me + 1) / team;
    for (int i = from; i < to; i++) a[i] = i * 3;
#pragma omp barrier
    for (int i = me; i < 1234; i += team) b[i] = a[1233 - i] + a[i];
  }
  long sum = 0;
  for (int i = 0; i < 1234; i++) sum += (long)b[i] * (i % 10);
  printf("%ld\n", sum);
  return 0;
}
