// Sweeps with a residual in one long region, in which one thread swaps the arrays; then the same in a
// region for each sweep. Sums of small whole numbers and quarters are exact in any order.
// ranks: 1 2 3
// threads: any
// env: OMP_NUM_THREADS=2
// opt: -O2
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 203, SWEEPS = 6 };

static void sweep(const double *from, double *to, int first, int last) {
  for (int i = first; i < last; i++)
    for (int j = 1; j < N - 1; j++)
      to[i * N + j] = 0.25 * (from[(i - 1) * N + j] + from[(i + 1) * N + j] + from[i * N + j - 1] + from[i * N + j + 1]);
}

static void start(double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) a[i * N + j] = b[i * N + j] = (i * 7 + j * 3) % 17;
}

static void show(const double *a, const char *what) {
  double sum = 0;
  for (int i = 0; i < N * N; i++) sum += a[i] * (i % 13);
  printf("%s %.17g\n", what, sum);
}

int main(void) {
  double *a = malloc(sizeof(double[N * N])), *b = malloc(sizeof(double[N * N]));
  double change = 0;
  int full = 0;
  start(a, b);
#pragma omp parallel
  {
    for (int k = 0; k < SWEEPS; k++) {
#pragma omp for
      for (int i = 1; i < N - 1; i++) sweep(a, b, i, i + 1);
#pragma omp single
      change = 0;
#pragma omp for reduction(+ : change)
      for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++) {
          double d = b[i * N + j] - a[i * N + j];
          change += d * d;
        }
#pragma omp single
      {
        double *swap = a;
        a = b;
        b = swap;
      }
    }
#pragma omp master
    full = omp_get_num_threads() == omp_get_max_threads();
  }
  show(a, "one region");
  printf("%.17g full %d\n", change, full);
  start(a, b);
  for (int k = 0; k < SWEEPS; k++) {
#pragma omp parallel for
    for (int i = 1; i < N - 1; i++) sweep(a, b, i, i + 1);
    double *swap = a;
    a = b;
    b = swap;
  }
  show(a, "many regions");
  return 0;
}
