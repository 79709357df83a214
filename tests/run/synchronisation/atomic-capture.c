// atomic capture: every thread gets a different ticket, in all forms of the construct.
// threads: any
#include <stdio.h>

int main(void) {
  int next = 0, count[200] = {0}, old_sum = 0, swaps = 0, cell = -1;
  unsigned char small = 0;
  double d = 0;
  long total = 0, d_sum = 0;
#pragma omp parallel for reduction(+ : total, old_sum, d_sum) schedule(static, 2)
  for (int i = 0; i < 200; i++) {
    int ticket, before;
    unsigned char tiny;
    double d_old;
#pragma omp atomic capture
    ticket = next++;
#pragma omp atomic
    count[ticket]++;
#pragma omp atomic capture
    {
      tiny = small;
      small += 1;
    }
    total += tiny;
#pragma omp atomic capture
    {
      before = cell;
      cell = i;
    }
    old_sum += before;
#pragma omp atomic capture seq_cst
    {
      d += 1;
      d_old = d;
    }
    d_sum += (long)d_old;
#pragma omp atomic capture
    before = swaps += 2;
    total += before;
  }
  int good = 0;
  for (int i = 0; i < 200; i++) good += count[i] == 1;
  // Every value but the last one was seen by the exchange that replaced it.
  printf("%d %d %ld %d %.0f %ld %d\n", good, next, total, old_sum + cell, d, d_sum, swaps);
  return 0;
}
