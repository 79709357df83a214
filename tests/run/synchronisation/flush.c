// flush directives between other synchronisation change nothing.
// threads: any
#include <stdio.h>

int main(void) {
  int a[100], flag = 0, sum = 0;
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < 100; i++) a[i] = i;
#pragma omp flush(a)
#pragma omp single
    {
      flag = 1;
#pragma omp flush
    }
#pragma omp flush acq_rel
    if (flag) {
#pragma omp for reduction(+ : sum)
      for (int i = 0; i < 100; i++) sum += a[i];
    }
  }
  printf("%d %d\n", flag, sum);
  return 0;
}
