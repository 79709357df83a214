// Two static loops of the same size without a barrier: each thread finds its own values again.
// threads: any
#include <stdio.h>

int main(void) {
  static long a[3000];
#pragma omp parallel
  {
#pragma omp for schedule(static) nowait
    for (int i = 0; i < 3000; i++) a[i] = i;
#pragma omp for schedule(static) nowait
    for (int i = 0; i < 3000; i++) a[i] = a[i] * a[i];
#pragma omp for schedule(static)
    for (int i = 0; i < 3000; i++) a[i] -= i;
  }
  long sum = 0;
  for (int i = 0; i < 3000; i++) sum += a[i];
  printf("%ld\n", sum);
  return 0;
}
