// One thread produces batches in single constructs, all consume them, over a ring of buffers.
// threads: any
#include <stdio.h>

enum { slots = 3, size = 400 };
static int ring[slots][size];

int main(void) {
  long consumed = 0;
  int produced = 0;
#pragma omp parallel reduction(+ : consumed)
  {
    for (int batch = 0; batch < 30; batch++) {
      int *slot = ring[batch % slots];
#pragma omp single
      {
        for (int i = 0; i < size; i++) slot[i] = batch * 1000 + i;
        produced++;
      }
      // No barrier: the next batch goes to another slot, and two of them lie between.
#pragma omp for nowait schedule(static)
      for (int i = 0; i < size; i++) consumed += slot[i];
    }
  }
  printf("%d %ld\n", produced, consumed);
  return 0;
}
