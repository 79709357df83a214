// A thread that has run a loop's last iteration takes no iterations of others any more: its variables hold the last
// values. Here the others' blocks look short to it at first, and long once it has run the last one.
// On one rank the threads are libomp's, which loses the last value when they steal chunks from each other.
// threads: any
// env: KMP_FORCE_MONOTONIC_DYNAMIC_SCHEDULE=1
#include <omp.h>
#include <stdio.h>
#include <time.h>

static void sleep_ms(int ms) {
  struct timespec time = {0, ms * 1000000L};
  nanosleep(&time, 0);
}

int main(void) {
  int last = -1;
  for (int round = 0; round < 3; round++) {
#pragma omp parallel
    {
      int each = (200 + omp_get_num_threads() - 1) / omp_get_num_threads();
#pragma omp for schedule(dynamic, 1) lastprivate(last)
      for (int i = 0; i < 200; i++) {
        if (i == 199)
          sleep_ms(10);
        else if (i < 200 - each)
          sleep_ms(1);
        last = i;
      }
    }
    printf("%d\n", last);
  }
  return 0;
}
