// Writes through index arrays, to other places in each step, take no page faults, no twins and no comparison:
// each rank tells in a few ranges what it wrote, and what others wrote is copied in bulk. Where the ranges are
// too many the owners get the bytes, and the region goes on declaring what it does.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: mpirun --allow-run-as-root --oversubscribe -n 2 %t 24 1 | FileCheck --check-prefix=RIGHT %s
// RUN: mpirun --allow-run-as-root --oversubscribe -n 2 %t 24 7919 | FileCheck --check-prefix=RIGHT %s
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 24 1 2>&1 | FileCheck --check-prefixes=BOTH,BLOCKS %s
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 24 1 2>&1 | FileCheck --check-prefixes=BOTH,BLOCKS %s
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 24 7919 2>&1 | FileCheck --check-prefixes=BOTH %s
//
// RIGHT: wrong 0
// BOTH:       read faults 0 0
// BOTH-NEXT:  write faults 0 0
// BLOCKS:     diff bytes 0 0
// BOTH:       declarations 73 73
// Half of what each rank reads was written by the other.
// BLOCKS:     section copies 24 24
// BLOCKS-NEXT: section bytes
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int steps = argc > 1 ? atoi(argv[1]) : 10, stride = argc > 2 ? atoi(argv[2]) : 1, n = 50000;
  double *to = malloc(n * sizeof *to), *from = malloc(n * sizeof *from);
  int *place = malloc(n * sizeof *place);
  long wrong = 0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) from[i] = i;
  for (int step = 0; step < steps; step++) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) place[i] = (int)(((long)i * stride + n / 4 + 1000L * step) % n);
#pragma omp parallel for
    for (int i = 0; i < n; i++) to[place[i]] = from[i];
#pragma omp parallel for reduction(+ : wrong)
    for (int i = 0; i < n; i++) wrong += ((long)to[i] * stride + n / 4 + 1000L * step) % n != i;
  }
  printf("wrong %ld\n", wrong);
  return 0;
}
