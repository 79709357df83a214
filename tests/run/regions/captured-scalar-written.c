// A captured stack variable that the region writes is seen by all threads and by serial code after it.
#include <omp.h>
#include <stdio.h>

int main(void) {
  int step = 0, total = 0, by_single = 0;
  double scale = 1.0;
  for (int round = 0; round < 20; round++) {
#pragma omp parallel reduction(+ : total)
    {
#pragma omp master
      {
        step += 3;
        scale *= 2;
      }
#pragma omp barrier
      total += omp_get_thread_num() == 0 ? step : 0;
#pragma omp single
      by_single += step + (int)scale % 7;
      if (by_single < 0) total = -1000000;
    }
    step -= 1;
  }
  printf("%d %d %d %.0f\n", step, total, by_single, scale);
  return 0;
}
