// Doacross loops in one and two dimensions, with both spellings of the dependences.
// threads: any
// flags: -fopenmp-version=52
#include <stdio.h>

int main(void) {
  unsigned a[80] = {1}, grid[12][14];
#pragma omp parallel
  {
#pragma omp for ordered(1) schedule(static, 4)
    for (int i = 1; i < 80; i++) {
      unsigned mine = i * i;
#pragma omp ordered depend(sink : i - 1)
      a[i] = a[i - 1] * 3 + mine;
#pragma omp ordered depend(source)
    }
#pragma omp for ordered(2)
    for (int i = 0; i < 12; i++)
      for (int j = 0; j < 14; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
        unsigned up = i > 0 ? grid[i - 1][j] : 1, left = j > 0 ? grid[i][j - 1] : 2;
        grid[i][j] = up * 5 + left + a[i];
#pragma omp ordered depend(source)
      }
#pragma omp for ordered(1)
    for (long i = 2; i < 80; i += 2) {
#pragma omp ordered doacross(sink : i - 2)
      a[i] += a[i - 2] >> 3;
#pragma omp ordered doacross(source :)
    }
  }
  unsigned hash = 0;
  for (int i = 0; i < 80; i++) hash = hash * 31 + a[i];
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 14; j++) hash = hash * 31 + grid[i][j];
  printf("%u\n", hash);
  return 0;
}
