// One region stays open over a whole time loop whose loops are orphaned in other source files.
// threads: any
#include "fields.h"
#include <stdio.h>
#include <stdlib.h>

double *now, *then;
double total;
int steps;

int main(void) {
  now = malloc(cells * sizeof *now);
  then = malloc(cells * sizeof *then);
  for (int i = 0; i < cells; i++) now[i] = then[i] = i % 11;
#pragma omp parallel
  {
    for (int t = 0; t < 60; t++) {
      boundary();
      diffuse();
      exchange();
      if (t % 20 == 19) {
        double sum = sum_up();
#pragma omp master
        printf("%d %.12g %d\n", t, sum, steps);
      }
    }
  }
  free(now);
  free(then);
  return 0;
}
