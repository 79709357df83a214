// threadprivate work arrays allocated by each thread in one region and used in later ones.
// threads: any
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static double *work;
#pragma omp threadprivate(work)

int main(void) {
  static double out[300];
#pragma omp parallel
  work = malloc(300 * sizeof *work);
  for (int round = 0; round < 3; round++) {
#pragma omp parallel
    {
      for (int k = 0; k < 300; k++) work[k] = k * (round + 1);
#pragma omp for
      for (int i = 0; i < 300; i++) out[i] += work[299 - i];
    }
  }
#pragma omp parallel
  free(work);
  double sum = 0;
  for (int i = 0; i < 300; i++) sum += out[i] * i;
  printf("%.0f\n", sum);
  return 0;
}
