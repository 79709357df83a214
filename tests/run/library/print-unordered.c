// Lines printed by all threads at once arrive whole, in some order.
// threads: any
// compare: sorted
#include <stdio.h>

int main(void) {
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < 100; i++) printf("line %d of one hundred, %s\n", i, i % 2 ? "odd" : "even");
#pragma omp parallel for
  for (int i = 0; i < 30; i++) {
#pragma omp critical
    {
      printf("critical %d", i);
      printf(" in two parts\n");
    }
  }
  return 0;
}
