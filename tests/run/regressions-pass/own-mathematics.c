// A function of the program that has the name of one in the library of mathematics: what it does is done under the lock.
#include <stdio.h>

static long calls;

double fdim(double a, double b) {
  calls++;
  return a > b ? a - b : 0;
}

int main(void) {
  double sum = 0;
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) {
#pragma omp critical
    sum += fdim(i, 10);
  }
  printf("%g %ld\n", sum, calls);
  return 0;
}
