#include "library.h"
#include <stdlib.h>

double library_table[50] = {4, 3, 2, 1};
int library_regions;
static int offset = 2;

void library_fill(double *values, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) values[i] = i + offset;
  offset++;
  library_regions++;
}

void library_orphan(double *values, int n) {
#pragma omp for
  for (int i = 0; i < n; i++) values[i] *= offset;
#pragma omp single
  offset += 10;
}

void library_each(double *values, int n, void (*f)(double *, int)) {
#pragma omp parallel for schedule(static, 3)
  for (int i = 0; i < n; i++) f(values, i);
  library_regions++;
}

double *library_block(int n) {
  double *block = malloc((size_t)n * sizeof *block);
#pragma omp parallel for
  for (int i = 0; i < n; i++) block[i] = offset + i;
  return block;
}

void library_free(double *block) { free(block); }
