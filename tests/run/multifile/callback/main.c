// A library function calls back into another file, where a comparison counts itself atomically, in an array
// whose sections are known elsewhere.
// threads: any
#include "order.h"
#include <stdio.h>
#include <stdlib.h>

long counts[cells];
static double values[rows][columns];

int main(void) {
  for (int step = 0; step < 4; step++) {
#pragma omp parallel for
    for (int i = 0; i < cells; i++) counts[i] += i;
#pragma omp parallel for
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < columns; j++) values[i][j] = (i * 31 + j * 17 + step) % 101;
#pragma omp parallel for
    for (int i = 0; i < rows; i++) qsort(values[i], columns, sizeof values[i][0], ascending);
  }
  double sum = 0;
  long compared = 0;
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) sum = sum * 0.99 + values[i][j];
  for (int i = 0; i < cells; i++) compared += counts[i];
  printf("%.12g %ld\n", sum, compared);
  return 0;
}
