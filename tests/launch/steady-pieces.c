// Sweeps over planes and lines, with a barrier after each line: each deals other small pieces of the arrays out, and
// the next time step the same ones. What follows from them is worked out in the first time steps alone, and it
// takes no page fault, although the arrays of a line lie in one page, and a variable that is accessed undeclared
// is declared beside them.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: clang-22 -O2 -fopenmp %s -o %t.openmp
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 4 > %t.sum4 2> %t.stats4
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 40 > %t.sum40 2> %t.stats40
// RUN: %t.openmp 40 > %t.expected
// RUN: cat %t.sum4 %t.stats4 %t.sum40 %t.stats40 %t.expected | FileCheck %s
//
// CHECK: steps 4 sum
// CHECK: read faults [[READ:.*]]
// CHECK: write faults [[WRITE:.*]]
// CHECK: section plans [[PLANS:.*]]
// CHECK: exchanges [[EXCHANGES:.*]]
// CHECK: steps 40 sum [[SUM:.*]]
// CHECK: read faults [[READ]]{{$}}
// CHECK: write faults [[WRITE]]{{$}}
// CHECK: section plans [[PLANS]]{{$}}
// CHECK: exchanges [[EXCHANGES]]{{$}}
// CHECK: steps 40 sum [[SUM]]
#include <stdio.h>
#include <stdlib.h>

enum { N = 20 };
double scale;
static double line[N], twice[N];
static double a[N][N][N];

int main(int count, char **arguments) {
  int steps = count > 1 ? atoi(arguments[1]) : 1;
  scale = count > 9 ? 1 : 0.5;
#pragma omp parallel
  for (int step = 0; step < steps; step++) {
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
#pragma omp for
        for (int k = 0; k < N; k++) {
          line[k] = a[i][j][k] + i + 2 * j;
          twice[k] = 2 * line[k];
        }
#pragma omp for
        for (int k = 1; k < N - 1; k++)
          a[i][j][k] = scale * (line[k - 1] + line[k + 1]) - 0.1 * twice[k];
      }
    for (int i = 0; i < N; i++)
      for (int k = 0; k < N; k++) {
#pragma omp for
        for (int j = 0; j < N; j++)
          a[i][j][k] = 0.25 * a[i][j][k] + j;
      }
  }
  double sum = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        sum += a[i][j][k];
  printf("steps %d sum %.17g\n", steps, sum);
  return 0;
}
