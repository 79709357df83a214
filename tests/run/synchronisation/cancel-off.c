// Without OMP_CANCELLATION a cancel construct does nothing.
// threads: any
// env: OMP_CANCELLATION=false
#include <stdio.h>

int main(void) {
  int count = 0;
#pragma omp parallel for reduction(+ : count)
  for (int i = 0; i < 100; i++) {
    if (i == 5) {
#pragma omp cancel for
    }
    count++;
  }
  printf("%d\n", count);
  return 0;
}
