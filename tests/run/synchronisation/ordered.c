// Ordered blocks run in the order of the iterations, for several schedules.
// threads: any
#include <stdio.h>

int main(void) {
  int order[60], n = 0;
  unsigned hash = 1;
#pragma omp parallel
  {
#pragma omp for ordered
    for (int i = 0; i < 60; i++) {
#pragma omp ordered
      order[n++] = i;
    }
#pragma omp for ordered schedule(static, 1)
    for (int i = 0; i < 30; i++) {
      unsigned before = (unsigned)order[i] * 7;
#pragma omp ordered
      hash = hash * 31 + before;
    }
#pragma omp for ordered schedule(dynamic, 2)
    for (long i = 29; i >= 0; i--) {
      if (i % 4 == 1) continue;
#pragma omp ordered threads
      hash = hash * 17 + (unsigned)i;
    }
#pragma omp for ordered schedule(guided) collapse(2)
    for (int i = 0; i < 5; i++)
      for (unsigned j = 0; j < 4; j++) {
#pragma omp ordered
        hash = hash * 13 + i * 10 + j;
      }
  }
  int sorted = 1;
  for (int i = 0; i < 60; i++) sorted &= order[i] == i;
  printf("%d %d %u\n", n, sorted, hash);
  return 0;
}
