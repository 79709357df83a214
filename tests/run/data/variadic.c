// Variadic functions called in regions, with pointers to shared and to private data.
// threads: any
#include <stdarg.h>
#include <stdio.h>

static double sum(int n, ...) {
  va_list list;
  double total = 0;
  va_start(list, n);
  for (int i = 0; i < n; i++) {
    double *out = va_arg(list, double *);
    int value = va_arg(list, int);
    *out += value;
    total += *out;
  }
  va_end(list);
  return total;
}

int main(void) {
  double shared[60] = {0}, total = 0;
#pragma omp parallel for reduction(+ : total)
  for (int i = 0; i < 60; i++) {
    double local = 0.5;
    total += sum(3, &shared[i], i, &local, 2 * i, &shared[i], 1);
    total += local;
  }
  printf("%.1f %.1f\n", total, shared[59]);
  return 0;
}
