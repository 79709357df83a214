// Sections run each block once: more and fewer blocks than threads, nowait, lastprivate, reduction.
// threads: any
#include <stdio.h>

int main(void) {
  int ran[7] = {0}, product = 1, last = 0;
  double a = 0, b = 0;
#pragma omp parallel
  {
#pragma omp sections nowait
    {
#pragma omp section
      ran[0]++;
#pragma omp section
      ran[1]++;
#pragma omp section
      ran[2]++;
#pragma omp section
      ran[3]++;
#pragma omp section
      ran[4]++;
    }
#pragma omp sections
    {
      a = 1.5;
#pragma omp section
      b = 2.5;
    }
#pragma omp sections reduction(* : product) lastprivate(last)
    {
#pragma omp section
      product *= 2, last = 1;
#pragma omp section
      product *= 3, last = 2;
#pragma omp section
      product *= (int)(a + b), last = 3;
    }
#pragma omp sections
    {
#pragma omp section
      ran[6] += product;
    }
  }
  for (int i = 0; i < 7; i++) printf("%d ", ran[i]);
  printf("%.1f %.1f %d %d\n", a, b, product, last);
  return 0;
}
