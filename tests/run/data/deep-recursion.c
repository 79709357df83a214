// Deep recursion in serial code and on every thread's own stack, with large frames.
// threads: any
#include <stdio.h>

static long deep(int depth) {
  volatile char frame[200];
  frame[depth % 200] = (char)depth;
  return depth == 0 ? frame[0] : deep(depth - 1) + (frame[depth % 200] == (char)depth);
}

static int large(void) {
  volatile int block[60000];
  for (int i = 0; i < 60000; i += 100) block[i] = i;
  return block[59900];
}

int main(void) {
  long sum = 0;
  printf("%ld\n", deep(10000));
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 8; i++) sum += deep(3000 + i) + large();
  printf("%ld\n", sum);
  return 0;
}
