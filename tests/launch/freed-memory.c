// What was freed takes memory on no rank: neither on the one that allocated it nor on those that had copies of it. And where
// there is less memory than ranks read, it is not taken for copies.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 3 %t 2>&1 | FileCheck %s
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 OKL_SECTIONS=0 mpirun --allow-run-as-root --oversubscribe -n 3 %t 2>&1 | FileCheck %s
// RUN: env OKL_STATS=1 OKL_MEMORY=32M OKL_RANKS_PER_NODE=1 OKL_SECTIONS=0 mpirun --allow-run-as-root --oversubscribe -n 3 %t kept 2>&1 | FileCheck %s --check-prefix=KEPT
//
// CHECK: 0 wrong
// Of 96 MiB nothing is left but what the program did not free.
// CHECK: resident KiB {{[0-9]?[0-9]?[0-9]?[0-9] +[0-9]?[0-9]?[0-9]?[0-9] +[0-9]?[0-9]?[0-9]?[0-9]$}}
// KEPT: 0 wrong
// Each rank holds its third, and some copies.
// KEPT: resident KiB {{[34][0-9][0-9][0-9][0-9] +[34][0-9][0-9][0-9][0-9] +[34][0-9][0-9][0-9][0-9]$}}
#include <stdio.h>
#include <stdlib.h>

enum { MIB = 96 };

int main(int argc, char **argv) {
  (void)argv;
  const long count = MIB * (1l << 20) / sizeof(long);
  long wrong = 0, *a = malloc(count * sizeof *a);
  for (int round = 0; round < 2; round++) {
#pragma omp parallel for
    for (long i = 0; i < count; i++) a[i] = i + round;
    // All ranks read all of it.
#pragma omp parallel reduction(+ : wrong)
    for (long i = 0; i < count; i += 100) wrong += a[i] != i + round;
  }
  if (argc == 1) free(a);
  // Some regions later.
  for (int round = 0; round < 2; round++) {
#pragma omp parallel reduction(+ : wrong)
    wrong += argc > 5;
  }
  printf("%ld wrong\n", wrong);
  return 0;
}
