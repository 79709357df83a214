// Arrays that are written first in parallel loops cost each rank its share and its neighbours' borders:
// 8192 KiB of 32 MiB on each of 4 ranks, at most two rows of 16 KiB from each side of each array, and on
// rank 0 the pages of serial code.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 4 %t 2>&1 | FileCheck %s
// RUN: env OKL_STATS=1 OMP_NUM_THREADS=2 mpirun --allow-run-as-root --oversubscribe -n 4 %t 2>&1 | FileCheck %s
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 4 %t 2>&1 | FileCheck %s
//
// CHECK: resident KiB {{ *8[1-3][0-9][0-9] +8[1-3][0-9][0-9] +8[1-3][0-9][0-9] +8[1-3][0-9][0-9]$}}
#include <stdlib.h>

int main(void) {
  long n = 2048, rows = 1024;
  double *a = malloc(rows * n * sizeof *a), *b = malloc(rows * n * sizeof *b);
#pragma omp parallel for
  for (long i = 0; i < rows; i++)
    for (long j = 0; j < n; j++) a[i * n + j] = b[i * n + j] = i + j;
  for (int sweep = 0; sweep < 4; sweep++) {
#pragma omp parallel for
    for (long i = 1; i < rows - 1; i++)
      for (long j = 1; j < n - 1; j++)
        b[i * n + j] = 0.25 * (a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1]);
    double *swap = a;
    a = b;
    b = swap;
  }
  return 0;
}
