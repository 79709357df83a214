// Output from ordered blocks appears in the order of the iterations.
// threads: any
#include <stdio.h>

int main(void) {
#pragma omp parallel for ordered schedule(static, 2)
  for (int i = 0; i < 25; i++) {
#pragma omp ordered
    printf("%d squared is %d\n", i, i * i);
  }
  return 0;
}
