// Arrays on the stack of main and of a function that forks, next to small variables.
// threads: any
#include <stdio.h>

enum { n = 6000 };

static long step(const long *from, long *to, int shift) {
  long mine[n], before = shift;
#pragma omp parallel for
  for (int i = 0; i < n; i++) mine[i] = from[i] * 2 + before;
#pragma omp parallel for
  for (int i = 0; i < n; i++) to[i] = mine[n - 1 - i] - shift;
  before += mine[shift];
  return before + to[n - 1 - shift];
}

int main(void) {
  long a[n], b[n], sum = 0;
  for (int i = 0; i < n; i++) a[i] = i;
  for (int round = 0; round < 12; round++) {
    sum = sum * 31 % 1000003 + step(a, b, round) % 1000;
    sum = sum * 31 % 1000003 + step(b, a, round + 1) % 1000;
    for (int i = 0; i < n; i++) a[i] %= 1000;
  }
  for (int i = 0; i < n; i++) sum = (sum * 31 + a[i] + b[i] % 7) % 1000003;
  printf("%ld\n", sum);
  return 0;
}
