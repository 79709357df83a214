// simd constructs alone and combined, with their clauses.
// threads: any
#include <stdio.h>

#pragma omp declare simd uniform(scale)
static float scaled(float x, float scale) { return x * scale + 1; }

int main(void) {
  static float a[256], b[256] __attribute__((aligned(64)));
  int sum = 0;
  for (int i = 0; i < 256; i++) a[i] = i;
#pragma omp simd aligned(b : 64) simdlen(4)
  for (int i = 0; i < 256; i++) b[i] = a[i] * 2;
#pragma omp parallel for simd reduction(+ : sum) schedule(simd : static)
  for (int i = 0; i < 256; i++) sum += (int)b[i];
  int k = 0;
#pragma omp simd linear(k : 2) safelen(8)
  for (int i = 0; i < 100; i++) {
    a[i] = b[k % 256];
    k += 2;
  }
#pragma omp parallel
  {
#pragma omp for simd collapse(2)
    for (int i = 0; i < 16; i++)
      for (int j = 0; j < 16; j++) b[i * 16 + j] = scaled(a[j * 16 + i], 3);
  }
  float check = 0;
  for (int i = 0; i < 256; i++) check += b[i] * (i % 5);
  printf("%d %d %.0f\n", sum, k, check);
  return 0;
}
