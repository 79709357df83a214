// The scope construct: private copies, a reduction and its barrier.
#include <omp.h>
#include <stdio.h>

int main(void) {
  int sum = 5, after = 0, size = 0;
#pragma omp parallel
  {
#pragma omp scope reduction(+ : sum)
    sum += omp_get_thread_num() + 1;
#pragma omp scope nowait
    {
#pragma omp master
      {
        after = sum;
        size = omp_get_num_threads();
      }
    }
  }
  printf("%d %d %d\n", sum, after == sum, size);
  return 0;
}
