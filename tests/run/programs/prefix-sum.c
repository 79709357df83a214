// Prefix sums in two passes over blocks dealt out by thread number, and by doubling steps.
// threads: any
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  enum { n = 5000 };
  static long a[n], b[n], c[n];
  long offsets[65] = {0};
  for (int i = 0; i < n; i++) a[i] = c[i] = i * 7 % 13;
#pragma omp parallel
  {
    int me = omp_get_thread_num(), team = omp_get_num_threads();
    int from = (int)((long)n * me / team), to = (int)((long)n * (me + 1) / team);
    long sum = 0;
    for (int i = from; i < to; i++) b[i] = sum += a[i];
    offsets[me + 1] = sum;
#pragma omp barrier
#pragma omp single
    for (int t = 0; t < team; t++) offsets[t + 1] += offsets[t];
    for (int i = from; i < to; i++) b[i] += offsets[me];
  }
  long *from = c, *to = malloc(n * sizeof *to), *buffer = to;
  for (int d = 1; d < n; d *= 2) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) to[i] = from[i] + (i >= d ? from[i - d] : 0);
    long *swap = from;
    from = to;
    to = swap;
  }
  int equal = 0;
  for (int i = 0; i < n; i++) equal += b[i] == from[i];
  printf("%d %ld\n", equal, b[n - 1]);
  free(buffer);
  return 0;
}
