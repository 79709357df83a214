// Work arrays on each thread's stack inside the loop body and in functions it calls.
// threads: any
#include <stdio.h>

static double polynomial(const double *c, double x) {
  double powers[12] = {1}, sum = 0;
  for (int k = 1; k < 12; k++) powers[k] = powers[k - 1] * x;
  for (int k = 0; k < 12; k++) sum += c[k] * powers[k];
  return sum;
}

int main(void) {
  static double out[500];
#pragma omp parallel
  {
    double mine[12];
    for (int k = 0; k < 12; k++) mine[k] = k % 4;
#pragma omp for
    for (int i = 0; i < 500; i++) {
      double c[12];
      for (int k = 0; k < 12; k++) c[k] = mine[11 - k] + i % 3;
      out[i] = polynomial(c, 0.5 + i % 2);
    }
  }
  double sum = 0;
  for (int i = 0; i < 500; i++) sum += out[i];
  printf("%.17g\n", sum);
  return 0;
}
