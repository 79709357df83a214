// The triad of the STREAM kind: a = b + s c, over vectors larger than the caches.
#include <omp.h>

#include "../common.h"

int main(int argc, char **argv) {
  int n = number(argc, argv, 1, 8000000, 1);
  int iterations = number(argc, argv, 2, 40, 1);
  double *a = allocate(n, sizeof *a), *b = allocate(n, sizeof *b), *c = allocate(n, sizeof *c);
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    a[i] = 0;
    b[i] = i % 1000;
    c[i] = i % 77;
  }

  double start = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = omp_get_wtime();
    double s = iteration;
#pragma omp parallel for
    for (int i = 0; i < n; i++)
      a[i] = b[i] + s * c[i];
  }
  double seconds = omp_get_wtime() - start;

  double sum = 0;  // of whole numbers: exact in any order
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++)
    sum += a[i];
  print_result(seconds, iterations, sum);
  free(c);
  free(b);
  free(a);
  return 0;
}
