// A grid of pointers to planes, which are pointers to rows, more of them than pages would serve well: its sweeps declare what
// they access. Border rows move, in a message for each sweep and rank, and no page is written by fault.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 12 2>&1 | FileCheck %s
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 32 2>&1 | FileCheck %s
//
// CHECK-DAG: 0 wrong
// CHECK-DAG: read faults {{[0-9]+}} {{[0-9]}}{{$}}
// CHECK-DAG: write faults 0 0
// CHECK-DAG: diffs 0 0
#include <stdio.h>
#include <stdlib.h>

enum { N = 100, LONG = 40 };

static double ***grid(void) {
  double ***a = malloc(N * sizeof *a);
  for (int i = 0; i < N; i++) {
    a[i] = malloc(N * sizeof **a);
    for (int j = 0; j < N; j++) a[i][j] = calloc(LONG, sizeof ***a);
  }
  return a;
}

static void sweep(double ***to, double ***from) {
#pragma omp parallel for
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++)
      for (int k = 1; k < LONG - 1; k++)
        to[i][j][k] = (from[i - 1][j][k] + from[i + 1][j][k] + from[i][j - 1][k] + from[i][j + 1][k] + from[i][j][k - 1] + from[i][j][k + 1]) / 6;
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 12, wrong = 0;
  double ***a = grid(), ***b = grid();
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < LONG; k++) b[i][j][k] = a[i][j][k] = i + 2 * j + 3 * k;
  for (int round = 0; round < rounds; round++) {
    sweep(b, a);
    sweep(a, b);
  }
  // What is linear stays as it is.
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < LONG; k++) wrong += a[i][j][k] - (i + 2 * j + 3 * k) > 1e-9 || a[i][j][k] - (i + 2 * j + 3 * k) < -1e-9;
  printf("%d wrong\n", wrong);
  return 0;
}
