// single with and without nowait: once each, published by the next barrier.
// threads: any
#include <stdio.h>

int main(void) {
  int once = 0, late = 0, wrong = 0, a[50];
#pragma omp parallel reduction(+ : wrong)
  {
    for (int round = 1; round <= 20; round++) {
#pragma omp single
      {
        once++;
        for (int i = 0; i < 50; i++) a[i] = i * round;
      }
      for (int i = 0; i < 50; i++) wrong += a[i] != i * round;
#pragma omp barrier
#pragma omp single nowait
      late += round;
#pragma omp single private(once)
      once = -1000;
    }
  }
  printf("%d %d %d %d\n", once, late, wrong, a[49]);
  return 0;
}
