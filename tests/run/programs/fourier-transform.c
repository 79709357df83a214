// A fast Fourier transform with butterflies over the whole array, and its inverse.
// threads: any
#include <complex.h>
#include <math.h>
#include <stdio.h>

enum { n = 1024 };
static double complex x[n], y[n];

static void transform(int sign) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; i++) {
      int j = 0;
      for (int bit = 1; bit < n; bit <<= 1) j = j << 1 | ((i & bit) != 0);
      y[j] = x[i];
    }
    for (int half = 1; half < n; half *= 2) {
#pragma omp for
      for (int k = 0; k < n / 2; k++) {
        int i = k / half * 2 * half + k % half;
        double complex w = cexp(sign * I * M_PI * (k % half) / half);
        double complex t = w * y[i + half];
        y[i + half] = y[i] - t;
        y[i] += t;
      }
    }
#pragma omp for
    for (int i = 0; i < n; i++) x[i] = sign > 0 ? y[i] / n : y[i];
  }
}

int main(void) {
  for (int i = 0; i < n; i++) x[i] = i % 16;
  transform(-1);
  printf("%.10f %.10f\n", creal(x[0]), cimag(x[64]));
  transform(1);
  double error = 0;
  for (int i = 0; i < n; i++) error = fmax(error, cabs(x[i] - i % 16));
  printf("%d\n", error < 1e-10);
  return 0;
}
