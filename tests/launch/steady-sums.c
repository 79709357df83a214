// A list of sums is reduced beside a number, as where points are clustered. Each rank but the first sends both in its one
// message of the reduction: nothing is read from its stack, and no protection is changed for that.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 12 2>&1 | FileCheck --check-prefixes=SAME,SHORT %s
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 32 2>&1 | FileCheck --check-prefixes=SAME,LONG %s
//
// SHORT-DAG:  12 rounds, 0 wrong
// LONG-DAG:   32 rounds, 0 wrong
// Both have room for the larger one.
// SHORT-DAG:  data messages {{[0-9]+}} 12
// SHORT-DAG:  data bytes {{[0-9]+}} 4608
// LONG-DAG:   data messages {{[0-9]+}} 32
// LONG-DAG:   data bytes {{[0-9]+}} 12288
// SAME-DAG:   read faults 0 0
// SAME-DAG:   protections {{[0-9]}} {{[0-9]}}
#include <stdio.h>
#include <stdlib.h>

enum { SUMS = 24 };

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 10, n = 1 << 14, wrong = 0;
  double *a = malloc(n * sizeof *a);
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = i % 17;
  for (int round = 0; round < rounds; round++) {
    double sums[SUMS] = {0};
    long many = 0;
#pragma omp parallel for reduction(+ : sums, many)
    for (int i = 0; i < n; i++) {
      sums[i % SUMS] += a[i];
      many += a[i] > 8;
    }
    for (int i = 0; i < n; i++) {
      sums[i % SUMS] -= i % 17;
      many -= i % 17 > 8;
    }
    for (int i = 0; i < SUMS; i++) wrong += sums[i] != 0;
    wrong += many != 0;
  }
  printf("%d rounds, %d wrong\n", rounds, wrong);
  return 0;
}
