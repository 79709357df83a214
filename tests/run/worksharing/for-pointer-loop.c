// Worksharing loops over pointers instead of numbers.
// threads: any
#include <stdio.h>

int main(void) {
  static double a[100];
  double *end = a + 100, sum = 0;
#pragma omp parallel for
  for (double *p = a; p < end; p++) *p = p - a;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 4)
  for (const double *p = end - 1; p >= a; p -= 3) sum += *p;
  printf("%.0f\n", sum);
  return 0;
}
