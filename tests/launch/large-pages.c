// What loops access again and again has large pages on each rank, where the kernel makes them of memory files. Of two arrays
// of 32 MiB each rank has half. Results stay what they are.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 OKL_LARGE_PAGES=always mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck %s
// RUN: env OKL_STATS=1 OKL_LARGE_PAGES=always OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck %s
// RUN: env OKL_STATS=1 OKL_LARGE_PAGES=0 mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck --check-prefix=SMALL %s
//
// A kernel that makes none leaves 0 everywhere (the unit test of `large_pages.rs` says so).
// CHECK: {{^}}sum 45056
// CHECK: large pages {{(1[3-9] +1[3-9]|0 +0) *$}}
// SMALL: {{^}}sum 45056
// SMALL: large pages 0 0
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  long n = 4l << 20, sum = 0;
  long *filled = malloc(n * sizeof *filled), *empty = malloc(n * sizeof *empty);
  for (long i = 0; i < n; i++) filled[i] = i % 3;
  for (int round = 0; round < 12; round++) {
#pragma omp parallel for
    for (long i = 0; i < n; i++) empty[i] = filled[i] + round;
#pragma omp parallel for
    for (long i = 0; i < n; i++) filled[i] = empty[i] - round;
  }
  for (long i = 0; i < n; i += 1024) sum += empty[i] - i % 3;
  printf("sum %ld\n", sum);
  return 0;
}
