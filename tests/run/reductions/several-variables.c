// Several reductions with different operators on one construct, on region, loop and sections.
// threads: any
#include <stdio.h>

int main(void) {
  int a = 1, c = 0, d = 1 << 20, e = 0, f = 0;
  double b = 0.5;
#pragma omp parallel reduction(+ : f)
  {
#pragma omp for reduction(+ : a, b) reduction(max : c) nowait
    for (int i = 0; i < 100; i++) {
      a += i;
      b += i * 0.5;
      if (i * 7 % 100 > c) c = i * 7 % 100;
    }
#pragma omp for reduction(min : d) reduction(^ : e)
    for (int i = 0; i < 100; i++) {
      if (i - 50 < d) d = i - 50;
      e ^= i << (i % 3);
    }
#pragma omp sections reduction(+ : a) reduction(- : b)
    {
#pragma omp section
      a += 10, b -= 1;
#pragma omp section
      a += 20, b -= 2;
    }
#pragma omp for nowait
    for (int i = 0; i < 10; i++) f += a;
  }
  printf("%d %.1f %d %d %d %d\n", a, b, c, d, e, f);
  return 0;
}
