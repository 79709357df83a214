// What a loop wrote and the loop after the next reads travels while the next one runs: it is sent at the first
// barrier, along with the message that tells of the arrival, and waited for where it is read.
//
// RUN: clang-22 -O2 -g -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_TRACE=comm OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 8 > %t.sum 2> %t.told && grep -e 'rank 1: barrier' -e 'rank 1: [st].* x ' %t.told | tail -n 6 | FileCheck %s && FileCheck --check-prefix=SUM %s < %t.sum
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 40 2>&1 | FileCheck --check-prefix=STATS %s
//
// CHECK:      sends 8 bytes in 1 piece to rank 0 unasked: x
// CHECK-NEXT: barrier at {{.*}}:[[# @LINE + 19]]
// CHECK-NEXT: takes 8 bytes in 1 piece from what rank 0 sent: x
// CHECK-NEXT: barrier at {{.*}}:[[# @LINE + 19]]
// SUM: -16602989.8249
// STATS: section copies 40 40
// STATS-NEXT: section bytes 320 320
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int steps = argc > 1 ? atoi(argv[1]) : 8, n = 1 << 14;
  double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y), *z = malloc(n * sizeof *z);
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; i++) x[i] = y[i] = z[i] = i % 7;
    for (int step = 0; step < steps; step++) {
#pragma omp for
      for (int i = 0; i < n; i++) x[i] = 0.5 * x[i] + z[i];
#pragma omp for
      for (int i = 0; i < n; i++) y[i] = 0.5 * y[i] + i;
#pragma omp for
      for (int i = 1; i < n - 1; i++) z[i] = x[i - 1] + x[i + 1] - y[i];
    }
  }
  double sum = 0;
  for (int i = 0; i < n; i++) sum += z[i] / (i + 1);
  printf("%.12g\n", sum);
  return 0;
}
