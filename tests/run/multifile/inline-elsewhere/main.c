// Inline functions of C99 that another file defines and that are called there: what they do counts here, as does a
// critical section in one.
// opt: -O0 -O2
#include "counts.h"
#include <stdio.h>

int main(void) {
  int counts[8] = {0};
#pragma omp parallel
  for (int i = 0; i < 200; i++)
    count(counts, i);
  increase(counts, 8);
  for (int i = 0; i < 8; i++)
    printf("%d ", counts[i]);
  printf("\n");
  return 0;
}
