// Barriers inside functions, loops and uniform conditions of a region.
// threads: any
#include <omp.h>
#include <stdio.h>

static int slots[8];

static int exchange(int value) {
  int me = omp_get_thread_num(), team = omp_get_num_threads();
  slots[me] = value;
#pragma omp barrier
  int neighbour = slots[(me + 1) % team];
#pragma omp barrier
  return neighbour - (me + 1) % team;
}

int main(void) {
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  for (int round = 0; round < 50; round++) {
    if (round % 3 == 0) {
      wrong += exchange(round + omp_get_thread_num()) != round;
    } else if (round % 3 == 1) {
#pragma omp barrier
    }
  }
  printf("%d\n", wrong);
  return 0;
}
