// schedule(simd: static, chunk): every iteration once (LLVM's own runtime repeats some).
// reference: for-simd-chunk.out
#include <stdio.h>

int main(void) {
  int sum = 0, count[100] = {0}, good = 0;
#pragma omp parallel for simd reduction(+ : sum) schedule(simd : static, 5)
  for (int i = 0; i < 100; i++) {
    sum += i;
    count[i]++;
  }
  for (int i = 0; i < 100; i++) good += count[i] == 1;
  printf("%d %d\n", sum, good);
  return 0;
}
