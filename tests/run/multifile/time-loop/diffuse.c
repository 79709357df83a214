#include "fields.h"

static double coefficient = 0.25;

void diffuse(void) {
#pragma omp for schedule(static)
  for (int i = 1; i < cells - 1; i++)
    then[i] = now[i] + coefficient * (now[i - 1] - 2 * now[i] + now[i + 1]);
}

void exchange(void) {
#pragma omp single
  {
    double *swap = now;
    now = then;
    then = swap;
    steps++;
    if (steps == 30) coefficient = 0.125;
  }
}
