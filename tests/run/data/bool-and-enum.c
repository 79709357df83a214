// _Bool arrays, enums, and complex numbers shared between threads.
// threads: any
#include <complex.h>
#include <stdbool.h>
#include <stdio.h>

enum colour { red, green, blue };

int main(void) {
  static bool prime[500];
  static enum colour colours[500];
  static double complex waves[500];
#pragma omp parallel
  {
#pragma omp for schedule(static, 3)
    for (int i = 0; i < 500; i++) {
      prime[i] = i > 1;
      for (int k = 2; k * k <= i; k++) prime[i] = prime[i] && i % k;
      colours[i] = (enum colour)(i % 3);
      waves[i] = i + (500 - i) * I;
    }
#pragma omp for
    for (int i = 0; i < 499; i++) {
      if (prime[i] && colours[i] != red) waves[i] *= 1 + 2 * I;
    }
  }
  int primes = 0;
  double complex sum = 0;
  for (int i = 0; i < 500; i++) {
    primes += prime[i];
    sum += waves[i] * (colours[i] + 1);
  }
  printf("%d %.1f %.1f\n", primes, creal(sum), cimag(sum));
  return 0;
}
