// omp_get_wtime runs forwards, by about the same second on all threads.
// threads: any
#include <omp.h>
#include <stdio.h>
#include <time.h>

int main(void) {
  double start = omp_get_wtime(), tick = omp_get_wtick();
  time_t day = time(NULL);
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    double inside = omp_get_wtime();
    wrong += inside < start - 1 || inside > start + 100;
  }
  double stop = omp_get_wtime();
  clock_t used = clock();
  printf("%d %d %d %d\n", wrong, stop >= start, tick > 0 && tick < 1, day > 0 && used >= 0);
  return 0;
}
