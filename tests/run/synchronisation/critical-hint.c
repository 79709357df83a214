// critical with a hint, and critical sections called from a function.
// threads: any
#include <omp.h>
#include <stdio.h>

static double total;

static void add(double x) {
#pragma omp critical(total) hint(omp_sync_hint_contended)
  total += x;
}

int main(void) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < 60; i++) add(i * 0.25);
#pragma omp for
    for (int i = 0; i < 60; i++) add(-i * 0.125);
  }
  printf("%.3f\n", total);
  return 0;
}
