#include "fields.h"

void boundary(void) {
#pragma omp sections
  {
#pragma omp section
    now[0] = then[0] = steps % 5;
#pragma omp section
    now[cells - 1] = then[cells - 1] = 1;
  }
}

double sum_up(void) {
#pragma omp single
  total = 0;
#pragma omp for reduction(+ : total)
  for (int i = 0; i < cells; i++) total += (int)(now[i] * 1024) / 1024.0;
  double result = total;
#pragma omp barrier
  return result;
}
