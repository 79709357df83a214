// master has no barrier of its own; an explicit one publishes what it wrote.
#include <omp.h>
#include <stdio.h>

int main(void) {
  int a[30] = {0}, wrong = 0, ran = 0, who = -1;
#pragma omp parallel reduction(+ : wrong)
  {
    for (int round = 1; round <= 10; round++) {
#pragma omp master
      {
        ran++;
        who = omp_get_thread_num();
        for (int i = 0; i < 30; i++) a[i] += round;
      }
#pragma omp barrier
      for (int i = 0; i < 30; i++) wrong += a[i] != round * (round + 1) / 2;
#pragma omp barrier
    }
  }
  printf("%d %d %d %d\n", ran, who, wrong, a[7]);
  return 0;
}
