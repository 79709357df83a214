// Reductions of worksharing loops in functions, into globals, statics and memory of the caller.
// threads: any
#include <stdio.h>

static double norm;
static int data[500];

static double compute_norm(void) {
#pragma omp single
  norm = 0;
#pragma omp for reduction(+ : norm)
  for (int i = 0; i < 500; i++) norm += data[i] * 0.5;
  double result = norm;
#pragma omp barrier
  return result;
}

static int largest(const int *from, int n) {
  static int most;
#pragma omp single
  most = -1;
#pragma omp for reduction(max : most)
  for (int i = 0; i < n; i++)
    if (from[i] > most) most = from[i];
  int result = most;
#pragma omp barrier
  return result;
}

int main(void) {
  int wrong = 0;
  for (int i = 0; i < 500; i++) data[i] = i * 91 % 500;
#pragma omp parallel reduction(+ : wrong)
  for (int round = 0; round < 10; round++) {
    wrong += compute_norm() != 62375;
    wrong += largest(data, 500 - round) > 499;
  }
  printf("%.1f %d %d\n", compute_norm(), largest(data, 10), wrong);
  return 0;
}
