// OKL_STATS=1 tabulates what every rank did, and what regions and source lines cost.
// ranks: 2
// flags: -g
// env: OKL_STATS=1
// expect-stderr: okl: statistics
// expect-stderr: write faults
// expect-stderr: resident KiB
// expect-stderr: okl: source lines, sums over all ranks
// expect-stderr:   statistics.c:19
#include <stdio.h>

double field[100000];

int main(void) {
  double sum = 0;
  for (int sweep = 0; sweep < 3; sweep++) {
#pragma omp parallel for
    for (int i = 0; i < 100000; i++) {
      field[i] += i;
    }
  }
  for (int i = 0; i < 100000; i++) sum += field[i];
  printf("%f\n", sum);
  return 0;
}
