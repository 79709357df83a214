// A shared library compiled with the plugin: regions, globals and orphaned loops on both sides.
// threads: any
#include "part/library.h"
#include <stdio.h>

static double local[400];
int program_counter = 1;

static void callback(double *values, int i) { values[i] += program_counter * 0.5; }

int main(void) {
  library_fill(local, 400);
  library_table[7] = 100;
#pragma omp parallel
  {
    library_orphan(local, 400);
#pragma omp for
    for (int i = 0; i < 400; i++) local[i] += library_table[i % 50];
  }
  library_each(local, 400, callback);
  program_counter = 5;
  library_each(local, 400, callback);
  double sum = 0;
  for (int i = 0; i < 400; i++) sum += local[i] * (i % 7);
  double *block = library_block(100);
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += block[i];
  library_free(block);
  printf("%.2f %d\n", sum, library_regions);
  return 0;
}
