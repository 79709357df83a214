// collapse over two and three loops, also with bounds that do not start at zero.
// threads: any
#include <stdio.h>

int main(void) {
  static int a[7][9], b[4][5][6];
  long sum = 0;
#pragma omp parallel for collapse(2)
  for (int i = 0; i < 7; i++)
    for (int j = 8; j >= 0; j--) a[i][j] += i * 10 + j;
#pragma omp parallel for collapse(3) schedule(static, 7) reduction(+ : sum)
  for (int i = 0; i < 4; i++)
    for (long j = -2; j <= 2; j++)
      for (unsigned k = 10; k < 16; k++) {
        b[i][j + 2][k - 10]++;
        sum += i * 100 + j * 10 + k;
      }
#pragma omp parallel for collapse(2) schedule(dynamic, 5)
  for (int i = 0; i < 7; i += 2)
    for (int j = 1; j < 9; j += 3) a[i][j] += 1000;
  int once = 0;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 5; j++)
      for (int k = 0; k < 6; k++) once += b[i][j][k] == 1;
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < 9; j++) printf("%d ", a[i][j]);
  printf("\n%ld %d\n", sum, once);
  return 0;
}
