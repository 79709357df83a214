// atomic update on float, double, long double and complex, with values that add up exactly.
// threads: any
// libs: -latomic
#include <complex.h>
#include <stdio.h>

int main(void) {
  float f = 1;
  double d = 1, product = 1, quotient = 1 << 20;
  long double ld = 1;
  float complex fc = 0;
  double complex dc = 0;
  double array[10] = {0};
#pragma omp parallel for schedule(static, 3)
  for (int i = 0; i < 60; i++) {
#pragma omp atomic
    f += i * 0.5f;
#pragma omp atomic
    d = d - i * 0.25;
#pragma omp atomic update
    ld += i * 0.125L;
#pragma omp atomic
    fc += i + 2 * I;
#pragma omp atomic
    dc -= 2 * i - I;
#pragma omp atomic seq_cst
    array[i % 10] += i;
    if (i < 10) {
#pragma omp atomic
      product *= 2;
#pragma omp atomic relaxed
      quotient /= 2;
    }
  }
  printf("%.3f %.3f %.3Lf %.1f %.1f %.1f %.1f %.0f %.0f %.0f\n", f, d, ld, crealf(fc), cimagf(fc),
         creal(dc), cimag(dc), product, quotient, array[3]);
  return 0;
}
