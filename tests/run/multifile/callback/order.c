#include "order.h"

int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
#pragma omp atomic
  counts[(int)x % cells]++;
  return (x > y) - (x < y);
}
