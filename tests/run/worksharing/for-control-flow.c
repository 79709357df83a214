// continue, inner break, goto within an iteration, switch and early function returns in loop bodies.
// threads: any
#include <stdio.h>

static int classify(int i) {
  switch (i % 4) {
  case 0:
    return i;
  case 1:
    if (i > 50) return -i;
    break;
  case 2:
    for (int k = 0;; k++)
      if (k * k > i) return k;
  default:
    break;
  }
  return 1;
}

int main(void) {
  int a[100] = {0};
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {
    if (i % 7 == 3) continue;
    int k = 0;
  again:
    a[i] += classify(i + k);
    if (++k < 3) goto again;
    while (1) {
      if (k++ > i) break;
      a[i]++;
    }
  }
  for (int i = 0; i < 100; i++) printf("%d ", a[i]);
  printf("\n");
  return 0;
}
