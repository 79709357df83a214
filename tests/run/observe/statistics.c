// OKL_STATS=1 prints what every rank did, on standard error only.
// threads: any
// flags: -gline-tables-only
// ranks: 2 3
// env: OKL_STATS=1
// expect-stderr: read faults
// expect-stderr: okl: parallel regions, sums over all ranks
// expect-stderr: okl: source lines, sums over all ranks
// expect-stderr:   statistics.c:17
#include <stdio.h>

int main(void) {
  static double a[5000];
  double sum = 0;
  for (int round = 0; round < 3; round++) {
#pragma omp parallel for schedule(static, 7)
    for (int i = 0; i < 5000; i++) a[i] += i;
  }
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 5000; i++) sum += a[i];
  printf("%.0f\n", sum);
  return 0;
}
