// A thousand regions with a reduction each, the result feeding the next one.
// threads: any
#include <stdio.h>

int main(void) {
  unsigned state = 1;
  for (int round = 0; round < 1000; round++) {
    unsigned sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 16; i++) sum += state * i;
    state = state * 5 + sum + 1;
  }
  printf("%u\n", state);
  return 0;
}
