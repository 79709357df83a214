// Combined host teams constructs: distribute, parallel for, reductions, collapse.
// threads: any
#include <stdio.h>

int main(void) {
  static double a[40][30];
  double sum = 0;
#pragma omp teams distribute parallel for collapse(2)
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 30; j++) a[i][j] = i - j;
#pragma omp teams distribute parallel for reduction(+ : sum)
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 30; j++) sum += a[i][j];
  printf("%.1f\n", sum);
  long count = 0;
#pragma omp teams distribute reduction(+ : count)
  for (int i = 0; i < 1000; i++) count += i;
  printf("%ld\n", count);
#pragma omp teams distribute parallel for simd dist_schedule(static, 7) schedule(static, 3)
  for (int i = 0; i < 40; i++) a[i][0] = -i;
  printf("%.0f\n", a[39][0] + a[20][0]);
  return 0;
}
