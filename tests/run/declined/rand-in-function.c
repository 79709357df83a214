// The call hides in a function two levels below the region; other regions stay distributed.
// threads: any
// warns: parallel region runs on rank 0 alone: it calls drand48, which keeps state in the C library
#include <stdio.h>
#include <stdlib.h>

static double draw(void) { return drand48(); }
static double average(int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += draw();
  return sum / n;
}

int main(void) {
  double a[50], total = 0;
  srand48(11);
  // Ordered, so that the sequence is the same with any team.
#pragma omp parallel for ordered
  for (int i = 0; i < 50; i++) {
#pragma omp ordered
    a[i] = average(3);
  }
#pragma omp parallel for reduction(max : total)
  for (int i = 0; i < 50; i++) total = a[i] > total ? a[i] : total;
  printf("%.6f %.6f\n", total, a[49]);
  return 0;
}
