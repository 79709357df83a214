// nowait loops over different arrays, then a barrier that publishes all of them.
// threads: any
#include <stdio.h>

int main(void) {
  static int a[1000], b[1000], c[1000], sum[1000];
#pragma omp parallel
  {
    for (int round = 1; round <= 5; round++) {
#pragma omp for nowait schedule(static)
      for (int i = 0; i < 1000; i++) a[i] += round;
#pragma omp for nowait schedule(static, 3)
      for (int i = 0; i < 1000; i++) b[i] += 2 * round;
#pragma omp for nowait schedule(dynamic, 10)
      for (int i = 999; i >= 0; i--) c[i] += 3 * round;
#pragma omp barrier
#pragma omp for
      for (int i = 0; i < 1000; i++) sum[i] += a[999 - i] + b[(i * 7) % 1000] * c[i];
    }
  }
  long total = 0;
  for (int i = 0; i < 1000; i++) total += sum[i];
  printf("%ld\n", total);
  return 0;
}
