// A nowait reduction may run beside other updates until the barrier that ends it.
// threads: any
#include <stdio.h>

int main(void) {
  long sum = 0, other = 0, atomics = 0;
#pragma omp parallel
  {
    for (int round = 0; round < 20; round++) {
#pragma omp for reduction(+ : sum) nowait
      for (int i = 0; i < 50; i++) sum += i;
#pragma omp critical
      other += 0;
#pragma omp for nowait
      for (int i = 0; i < 10; i++) {
#pragma omp atomic
        atomics += i;
      }
#pragma omp barrier
#pragma omp single
      other += sum;
    }
  }
  printf("%ld %ld %ld\n", sum, other, atomics);
  return 0;
}
