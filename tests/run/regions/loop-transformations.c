// tile and unroll keep the meaning of the worksharing loop around them.
// threads: any
#include <stdio.h>

int main(void) {
  static int a[30][30];
#pragma omp parallel for
#pragma omp tile sizes(4, 8)
  for (int i = 0; i < 30; i++)
    for (int j = 0; j < 30; j++) a[i][j] = i * 31 + j;
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
#pragma omp unroll partial(4)
  for (int i = 0; i < 30; i++)
    for (int j = 0; j < 30; j++) sum = sum + a[i][j] * (i ^ j);
  printf("%ld %d\n", sum, a[29][29]);
  return 0;
}
