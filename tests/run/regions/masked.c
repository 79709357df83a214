// masked with a filter: only the thread of that number runs the block.
#include <omp.h>
#include <stdio.h>

int main(void) {
  int ran[8], size = 0;
  for (int k = 0; k < 8; k++) ran[k] = -1;
#pragma omp parallel
  {
#pragma omp master
    size = omp_get_num_threads();
    for (int k = 0; k < 8; k++) {
#pragma omp masked filter(k)
      ran[k] = omp_get_thread_num();
    }
#pragma omp barrier
#pragma omp masked
    ran[7] = 100 + size;
  }
  for (int k = 0; k < 8; k++) printf("%d ", ran[k]);
  printf("\n");
  return 0;
}
