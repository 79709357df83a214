// Every thread creates tasks in a worksharing loop; the loop's barrier completes them.
// threads: any
#include <stdio.h>

int main(void) {
  static int a[200], b[200];
  long sum = 0;
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < 200; i++) {
#pragma omp task
      a[i] = i * i;
    }
#pragma omp for nowait
    for (int i = 0; i < 200; i++) {
#pragma omp task untied
      b[i] = a[199 - i] + 1;
    }
#pragma omp barrier
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < 200; i++) sum += b[i] * (long)(i % 7);
  }
  printf("%ld\n", sum);
  return 0;
}
