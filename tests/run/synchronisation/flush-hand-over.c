// What a thread wrote before a flush and a relaxed store, another one reads that has read the store and flushed.
// threads: any
#include <omp.h>
#include <stdio.h>

static int data[3000], turn;

int main(void) {
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    int me = omp_get_thread_num(), team = omp_get_num_threads();
    for (int round = me; round < 60; round += team) {
      int now;
      for (;;) {
#pragma omp atomic read relaxed
        now = turn;
#pragma omp flush
        if (now == round) break;
      }
      for (int i = 0; i < 3000; i += 500) {
        wrong += data[i] != round;
        data[i]++;
      }
#pragma omp flush
#pragma omp atomic write relaxed
      turn = round + 1;
    }
  }
  printf("%d %d\n", wrong, data[2500]);
}
