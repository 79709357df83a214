// Register-only and pausing assembly is fine: the region is distributed without a warning.
#include <omp.h>
#include <stdio.h>

int main(void) {
  unsigned sum = 0;
  int team = 0;
#pragma omp parallel for reduction(+ : sum)
  for (unsigned i = 0; i < 100; i++) {
    unsigned swapped;
    __asm__("bswap %0" : "=r"(swapped) : "0"(i));
    __asm__ volatile("pause");
    sum += swapped >> 24;
    if (omp_get_thread_num() == 0) team = omp_get_num_threads();
  }
  printf("%u %d\n", sum, team);
  return 0;
}
