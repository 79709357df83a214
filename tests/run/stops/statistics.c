// OKL_STATS=1 tabulates what every rank did and names the source lines with the most faults.
// ranks: 2
// flags: -g
// env: OKL_STATS=1
// expect-stderr: okl: statistics
// expect-stderr: write faults
// expect-stderr: resident KiB
// expect-stderr: faults at statistics.c:18
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
