// Reads of a thousand elements by remainders, all over an array of 4 MiB of which each rank writes half: these elements are
// copied, and not the array, nor page by page. (In the first step half of the array leaves rank 0, which has it.)
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 20 2>&1 | FileCheck %s
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 20 2>&1 | FileCheck %s
// CHECK: sum 840000
// CHECK: read faults {{[0-9] [0-9]$}}
// CHECK: section bytes {{[1-9]?[0-9][0-9][0-9][0-9] 21[0-9][0-9][0-9][0-9][0-9]$}}
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 128, LENGTH = 4096 };

static double u[ROWS][LENGTH];

int main(int argc, char **argv) {
  double sum = 0;
  for (int step = 0; step < atoi(argv[1]); step++) {
#pragma omp parallel for
    for (int i = 0; i < ROWS; i++)
      for (int j = 0; j < LENGTH; j++) u[i][j] += i % 8 + j % 2;
#pragma omp parallel for reduction(+ : sum)
    for (int j = 1; j <= 1000; j++) sum += u[17 * j % ROWS][5 * j % LENGTH];
  }
  printf("sum %.0f\n", sum);
  return 0;
}
