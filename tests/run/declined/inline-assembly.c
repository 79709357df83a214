// Inline assembly that writes memory.
// threads: any
// warns: parallel region runs on rank 0 alone: it executes inline assembly
#include <stdio.h>

int main(void) {
  long counters[8] = {0}, sum = 0;
#pragma omp parallel for
  for (long i = 0; i < 80; i++) {
    __asm__ volatile("lock; addq %1, %0" : "+m"(counters[i % 8]) : "r"(i) : "memory");
  }
  for (int k = 0; k < 8; k++) sum += counters[k] * (k + 1);
  printf("%ld\n", sum);
  return 0;
}
