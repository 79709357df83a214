// Combined constructs: parallel sections, parallel master, parallel masked, parallel loop.
// threads: any
#include <stdio.h>

int main(void) {
  int a = 0, b = 0, c = 0, d[64];
#pragma omp parallel sections
  {
#pragma omp section
    a = 1;
#pragma omp section
    b = 2;
#pragma omp section
    c = 3;
  }
#pragma omp parallel master
  a += 10;
#pragma omp parallel masked
  b += 20;
#pragma omp parallel loop
  for (int i = 0; i < 64; i++) d[i] = i * i;
#pragma omp parallel master taskloop grainsize(5)
  for (int i = 0; i < 64; i++) d[i] += 1;
#pragma omp parallel masked taskloop simd
  for (int i = 0; i < 64; i++) d[i] += 2;
  int sum = 0;
#pragma omp parallel
  {
#pragma omp loop bind(parallel) reduction(+ : sum)
    for (int i = 0; i < 64; i++) sum += d[i];
  }
  printf("%d %d %d %d\n", a, b, c, sum);
  return 0;
}
