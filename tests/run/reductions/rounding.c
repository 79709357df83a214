// A sum whose last digits depend on the order stays within rounding of the OpenMP result.
// compare: tolerance 1e-12
#include <math.h>
#include <stdio.h>

int main(void) {
  double sum = 0, product = 1;
  float small = 0;
#pragma omp parallel for reduction(+ : sum, small) reduction(* : product)
  for (int i = 1; i <= 10000; i++) {
    sum += sin(i) / i;
    product *= 1 + 1.0 / (i * (double)i);
    small += (float)(i & 7);
  }
  printf("%.15g %.15g %g\n", sum, product, small);
  return 0;
}
