// Functions of the mathematical library in regions.
// threads: any
#include <math.h>
#include <stdio.h>

int main(void) {
  static double out[200];
  int exponent_sum = 0;
#pragma omp parallel for reduction(+ : exponent_sum)
  for (int i = 1; i < 200; i++) {
    int exponent;
    double whole;
    out[i] = sin(i) + exp(-i * 0.01) * log(i) + sqrt(i) + pow(i, 0.3) + atan2(i, 3) + fmod(i, 7.5);
    out[i] += frexp(i, &exponent) + modf(i * 0.3, &whole) + hypot(i, 2) + floor(i / 3.0) + cbrt(i);
    exponent_sum += exponent + (int)whole + (int)lround(i * 0.4);
  }
  double sum = 0;
  for (int i = 1; i < 200; i++) sum += out[i];
  printf("%.15g %d\n", sum, exponent_sum);
  return 0;
}
