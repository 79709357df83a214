// The same pages written by other threads in every round: blocks, cyclic, reversed, serial.
// threads: any
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  enum { n = 20000 };
  int *a = calloc(n, sizeof *a), *b = calloc(n, sizeof *b);
  for (int round = 0; round < 8; round++) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) a[i] += b[n - 1 - i] + i;
#pragma omp parallel for schedule(static, 64)
    for (int i = 0; i < n; i++) b[i] = a[i] % 1000 + round;
    for (int i = round; i < n; i += 1500) a[i] = -b[i];
#pragma omp parallel for schedule(static, 700)
    for (int i = n - 1; i >= 0; i--) a[i] = a[i] * 3 % 10007;
  }
  unsigned hash = 0;
  for (int i = 0; i < n; i++) hash = hash * 31 + (unsigned)a[i] + (unsigned)b[i];
  printf("%u\n", hash);
  free(a);
  free(b);
  return 0;
}
