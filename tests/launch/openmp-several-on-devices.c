// A region whose threads share several loops, in a time loop and with code for one of them in between, runs on a device: a
// kernel for each loop, which the host launches in their order. The arrays go there once, however often it steps. (The last
// loop gets pointers to the stack, of which a part is copied that differs from run to run.)
//
// RUN: %okl-cc -O3 -g -fopenmp --okl-target=cuda,cpu --okl-strict %s -o %t -lm
// RUN: for way in cpu cuda-emulated; do OMP_NUM_THREADS=2 OKL_BACKEND=$way %t 30 > %t.$way; done && cmp %t.cpu %t.cuda-emulated
// RUN: for steps in 2 12; do OKL_STATS=1 OKL_BACKEND=cuda-emulated %t $steps 2>&1 | awk '$1 == "run" { print $1, $2, int($4 * 50) }'; done | FileCheck --match-full-lines %s
//
// CHECK:      run 2 11
// CHECK-NEXT: run 2 0
// CHECK-NEXT: run 1 0
// CHECK-NEXT: run 12 11
// CHECK-NEXT: run 12 0
// CHECK-NEXT: run 1 0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 120 };

static double run(double (*a)[N], double (*b)[N], int steps, int *seen) {
  double last = 0, row = 0;
  int i, j, t, own = 0;
#pragma omp parallel private(i, j, t) firstprivate(own)
  {
    for (t = 0; t < steps; t++) {
#pragma omp for
      for (i = 1; i < N - 1; i++)
        for (j = 1; j < N - 1; j++)
          b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
#pragma omp for schedule(dynamic) nowait
      for (i = 1; i < N - 1; i++)
        for (j = 1; j < N - 1; j++)
          a[i][j] = b[i][j] + own;
#pragma omp barrier
#pragma omp single
      *seen += t;
    }
#pragma omp for reduction(max : last) lastprivate(row)
    for (i = 0; i < N; i++) {
      row = i;
      for (j = 0; j < N; j++)
        last = fmax(last, a[i][j]);
    }
  }
  return last + row;
}

int main(int argc, char **argv) {
  int steps = argc > 1 ? atoi(argv[1]) : 2, seen = 0;
  double (*a)[N] = calloc(N, sizeof *a), (*b)[N] = calloc(N, sizeof *b);
  for (int i = 0; i < N; i++)
    a[i][0] = b[i][0] = i, a[0][i] = b[0][i] = 2 * i;
  double most = run(a, b, steps, &seen), sum = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      sum += a[i][j] * (i + 2 * j);
  printf("%d %d: %.9g %.12g\n", steps, seen, most, sum);
  free(a), free(b);
}
