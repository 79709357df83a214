// A histogram by atomics, by private copies merged in a critical section, and by a reduction.
// threads: any
#include <stdio.h>
#include <string.h>

enum { n = 1500, bins = 32 };

int main(void) {
  static int data[n], by_atomic[bins], by_critical[bins], by_reduction[bins];
  for (int i = 0; i < n; i++) data[i] = (int)(i * 2654435761u >> 27);
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; i++) {
#pragma omp atomic
      by_atomic[data[i]]++;
    }
    int mine[bins] = {0};
#pragma omp for nowait
    for (int i = 0; i < n; i++) mine[data[i]]++;
#pragma omp critical
    for (int b = 0; b < bins; b++) by_critical[b] += mine[b];
#pragma omp for reduction(+ : by_reduction)
    for (int i = 0; i < n; i++) by_reduction[data[i]]++;
  }
  int same = memcmp(by_atomic, by_critical, sizeof by_atomic) == 0 &&
             memcmp(by_atomic, by_reduction, sizeof by_atomic) == 0;
  printf("%d:", same);
  for (int b = 0; b < bins; b++) printf(" %d", by_atomic[b]);
  printf("\n");
  return 0;
}
