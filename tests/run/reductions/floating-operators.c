// Reductions of float, double, long double and complex, with values that make them exact.
// threads: any
// libs: -latomic
#include <complex.h>
#include <stdio.h>

int main(void) {
  float f = 1, f_low = 1e9f, f_high = -1e9f;
  double d = 1, d_mul = 1, d_low = 1e9, d_high = -1e9;
  long double ld = 1, ld_mul = 1, ld_high = -1e9L;
  float complex fc = 1;
  double complex dc = I, dc_mul = 1;
  long double complex lc = 0;
#pragma omp parallel for reduction(+ : f, d, ld, fc, dc, lc) reduction(* : d_mul, ld_mul, dc_mul)  \
    reduction(min : f_low, d_low) reduction(max : f_high, d_high, ld_high) schedule(static, 3)
  for (int i = 0; i < 64; i++) {
    f += i * 0.5f;
    d += i * 0.25;
    ld += i * 0.125L;
    fc += i - i * I;
    dc += 2 * i + 0.5 * I;
    lc += 1 + i * I;
    if (i % 8 == 0) {
      d_mul *= 2;
      ld_mul *= 0.5L;
      dc_mul *= I;
    }
    double value = (i * 37 % 61) - 30.5;
    if (value < f_low) f_low = (float)value;
    if (value > f_high) f_high = (float)value;
    d_low = value < d_low ? value : d_low;
    d_high = value > d_high ? value : d_high;
    ld_high = value * 2 > ld_high ? value * 2 : ld_high;
  }
  printf("%.2f %.2f %.3Lf\n", f, d, ld);
  printf("%.1f %.1f %.1f %.1f %.1Lf %.1Lf\n", crealf(fc), cimagf(fc), creal(dc), cimag(dc),
         creall(lc), cimagl(lc));
  printf("%.1f %.10Lf %.1f %.1f\n", d_mul, ld_mul, creal(dc_mul), cimag(dc_mul) + 0.0);
  printf("%.1f %.1f %.1f %.1f %.1Lf\n", f_low, f_high, d_low, d_high, ld_high);
  return 0;
}
