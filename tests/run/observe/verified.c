// OKL_VERIFY=1 is silent about a program without races, also where neighbours share words.
// threads: any
// env: OKL_VERIFY=1
#include <stdio.h>

int main(void) {
  static unsigned char bytes[3000];
  static long total, list[300];
  int next = 0;
  for (int round = 0; round < 4; round++) {
#pragma omp parallel
    {
#pragma omp for schedule(static, 1)
      for (int i = 0; i < 3000; i++) bytes[i] += (unsigned char)(i + round);
#pragma omp for schedule(static, 9)
      for (int i = 0; i < 300; i++) {
        int slot;
#pragma omp atomic capture
        slot = next++;
        list[slot % 300] = bytes[i];
#pragma omp critical
        total += bytes[i];
      }
    }
  }
  unsigned hash = 0;
  for (int i = 0; i < 3000; i++) hash = hash * 31 + bytes[i];
  for (int i = 0; i < 300; i++) total += list[i];
  printf("%ld %u\n", total, hash);
  return 0;
}
