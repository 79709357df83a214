// Loops whose number is computed of an unsigned one, which may wrap: that the sum does not overflow says nothing of how often
// they turn.
#include <stdio.h>

enum { N = 64, MOST = 8 };
static long a[N * MOST];

__attribute__((noinline)) static void set(int n, unsigned step, int limit) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    long c = 0;
    unsigned u = 0;
    do {
      a[i * MOST + c] = i + c + 1;
      c++;
      u += step;
    } while ((int)u + 5 < limit);
  }
}

__attribute__((noinline)) static long sum(int n, unsigned step, int limit, int offset) {
  long sums[N] = {0}, all = 0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    long c = 0;
    unsigned u = 0;
    do {
      sums[i] += a[(n - 1 - i) * MOST + c] * (c + 1);
      c++;
      u += step;
    } while ((int)u + offset < limit);
  }
  for (int i = 0; i < n; i++) all += sums[i] * (i % 7);
  return all;
}

int main(void) {
  // 0, -2^30, -2^31, and then 2^30: three turns.
  set(N, 0xC0000000u, 100);
  printf("%ld\n", sum(N, 0xC0000000u, 100, 5));
  int count = 0;
  for (int i = 0; i < N * MOST; i++) count += a[i] != 0;
  printf("%d\n", count);
  set(N, 30, 200);
  printf("%ld\n", sum(N, 30, 200, 5));
  return 0;
}
