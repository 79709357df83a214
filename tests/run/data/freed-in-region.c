// Memory allocated in serial code, freed by the threads of a region, and allocated again.
// threads: any
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  enum { n = 80 };
  long *blocks[n], sum = 0;
  for (int round = 0; round < 6; round++) {
    for (int i = 0; i < n; i++) {
      blocks[i] = malloc((10 + i * 20) * sizeof(long));
      for (int k = 0; k < 10 + i * 20; k++) blocks[i][k] = round;
      blocks[i][i % 10] = i;
    }
#pragma omp parallel for reduction(+ : sum) schedule(static, 3)
    for (int i = 0; i < n; i++) {
      for (int k = 0; k < 10 + i * 20; k++) sum += blocks[i][k];
      free(blocks[i]);
    }
  }
  printf("%ld\n", sum);
  return 0;
}
