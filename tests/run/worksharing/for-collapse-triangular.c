// collapse over loops whose inner bounds depend on the outer variable.
// threads: any
#include <stdio.h>

int main(void) {
  static int a[20][20];
#pragma omp parallel for collapse(2)
  for (int i = 0; i < 20; i++)
    for (int j = 0; j <= i; j++) a[i][j] += 1 + i * j;
  long sum = 0;
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 20; j++) sum += a[i][j] * (j <= i ? 1 : 1000000);
  printf("%ld\n", sum);
  return 0;
}
