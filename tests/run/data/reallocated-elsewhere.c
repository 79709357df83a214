// Blocks that one thread allocated are reallocated by another and by serial code, and keep their content.
// threads: any
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  enum { n = 40 };
  int *blocks[n];
  long size[n];
  for (int i = 0; i < n; i++) {
    size[i] = 5;
    blocks[i] = malloc(5 * sizeof(int));
    for (int k = 0; k < 5; k++) blocks[i][k] = i * k;
  }
  for (int round = 1; round < 6; round++) {
#pragma omp parallel for schedule(static, 1)
    for (int j = 0; j < n; j++) {
      int i = (j + round * 3) % n;
      long more = size[i] + i * 30 + round;
      blocks[i] = realloc(blocks[i], more * sizeof(int));
      for (long k = size[i]; k < more; k++) blocks[i][k] = (int)k;
      size[i] = more;
    }
    if (round == 3)
      for (int i = 0; i < n; i += 3) {
        size[i] = size[i] / 2 + 1;
        blocks[i] = realloc(blocks[i], size[i] * sizeof(int));
      }
  }
  unsigned hash = 0;
  for (int i = 0; i < n; i++) {
    for (long k = 0; k < size[i]; k++) hash = hash * 31 + (unsigned)blocks[i][k];
    free(blocks[i]);
  }
  printf("%u\n", hash);
  return 0;
}
