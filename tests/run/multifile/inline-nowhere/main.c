// Inline functions of C99 that no file defines: every call of them is a copy, one of them with a region.
// opt: -O2 -O3
#include <stdio.h>

inline double plain(double x) { return x + 1; }

inline void scale(double *a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    a[i] = plain(a[i]) * 2;
}

inline double sum(const double *a, int n) {
  double s = 0;
#pragma omp for nowait
  for (int i = 0; i < n; i++)
    s += a[i];
  return s;
}

int main(void) {
  double a[640], total = 0;
  for (int i = 0; i < 640; i++)
    a[i] = i;
  scale(a, 640);
#pragma omp parallel reduction(+ : total)
  total += sum(a, 640);
  printf("%g\n", total);
  return 0;
}
