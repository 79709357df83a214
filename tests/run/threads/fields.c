// A field of so many structures that it is written in too many pieces to list: its pages are tracked, and
// faults come from all threads.
// ranks: 1 2 3
// threads: any
// env: OMP_NUM_THREADS=2
// opt: -O2
#include <stdio.h>
#include <stdlib.h>

struct Pair {
  int key, value;
};

enum { N = 2200000 };

int main(void) {
  struct Pair *pairs = malloc(N * sizeof *pairs);
  for (int i = 0; i < N; i += 1000) pairs[i].value = i;
  for (int round = 0; round < 2; round++) {
#pragma omp parallel
    {
#pragma omp for nowait
      for (int i = 0; i < N; i++) pairs[i].key = i + round;
#pragma omp for
      for (int i = 0; i < N / 2; i++) pairs[i].value += round;
    }
  }
  long sum = 0;
  for (int i = 0; i < N; i++) sum += pairs[i].key + 3L * pairs[i].value;
  printf("%ld\n", sum);
  return 0;
}
