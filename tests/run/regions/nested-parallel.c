// A region in a region is a team of one; its loops still run all iterations.
#include <omp.h>
#include <stdio.h>

int main(void) {
  long out[40];
  int inner_sizes = 0;
#pragma omp parallel reduction(+ : inner_sizes)
  {
#pragma omp for
    for (int i = 0; i < 40; i++) {
      long sum = 0;
      int size = 0;
#pragma omp parallel reduction(+ : sum)
      {
        if (omp_get_thread_num() == 0) size = omp_get_num_threads();
#pragma omp for
        for (int k = 0; k < 10; k++) sum += i * k;
#pragma omp sections
        {
#pragma omp section
          sum += 1000;
#pragma omp section
          sum += 2000;
        }
      }
      inner_sizes += size;
      out[i] = sum;
    }
  }
  for (int i = 0; i < 40; i++) printf("%ld ", out[i]);
  printf("\ninner %d\n", inner_sizes);
  return 0;
}
