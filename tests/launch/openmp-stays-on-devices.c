// An ordinary OpenMP program that steps through time keeps its arrays on the device: however often it steps, they go there
// once and come back once, and besides only what blocks have made of the reduction comes back.
//
// RUN: %okl-cc -O3 -g -fopenmp --okl-target=cuda,cpu --okl-strict %s -o %t -lm
// RUN: for way in cpu cuda-emulated; do OMP_NUM_THREADS=2 OKL_BACKEND=$way %t 30 > %t.$way; done && cmp %t.cpu %t.cuda-emulated
// RUN: for steps in 2 12; do OKL_STATS=1 OKL_BACKEND=cuda-emulated %t $steps 2>&1 | awk '$1 == "step" { print $1, $2, $4, $5 }'; done | FileCheck --match-full-lines %s
//
// CHECK:      step 2 0.238 0.121
// CHECK-NEXT: step 12 0.238 0.129
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 120 };

static double step(double (*to)[N], double (*from)[N]) {
  double most = 0;
#pragma omp parallel for collapse(2) reduction(max : most)
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++) {
      to[i][j] = 0.25 * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
      most = fmax(most, fabs(to[i][j] - from[i][j]));
    }
  return most;
}

int main(int argc, char **argv) {
  int steps = argc > 1 ? atoi(argv[1]) : 2;
  double (*a)[N] = calloc(N, sizeof *a), (*b)[N] = calloc(N, sizeof *b);
  for (int i = 0; i < N; i++)
    a[i][0] = b[i][0] = i, a[0][i] = b[0][i] = 2 * i;
  double change = 0;
  for (int s = 0; s < steps; s++) {
    change = step(b, a);
    double (*swap)[N] = a;
    a = b, b = swap;
  }
  double sum = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      sum += a[i][j] * (i + 2 * j);
  printf("%d: %.9g %.12g\n", steps, change, sum);
  free(a), free(b);
}
