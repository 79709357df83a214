// A histogram that is cleared, filled and read in every iteration, on two nodes. Its updates cost no fault and
// no message of their own: what a rank counted goes to the owner of the bins in one message before the end of
// the region. So the messages of 60 iterations do not depend on the number of updates, and the work does
// not leave section mode.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 60 20000 2>&1 | FileCheck --check-prefixes=SAME,FEW %s
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 60 40000 2>&1 | FileCheck --check-prefixes=SAME,MANY %s
//
// FEW:       atomics 600000 600000
// MANY:      atomics 1200000 1200000
// SAME:      messages 317 365
// SAME:      read faults 0 0
// SAME-NEXT: write faults 0 0
// SAME:      section plans 5 5
// SAME-NEXT: exchanges 4 4
#include <stdio.h>
#include <stdlib.h>

#define BINS 2048

int main(int argc, char **argv) {
  int rounds = atoi(argv[1]), n = atoi(argv[2]);
  double *sums = malloc(BINS * sizeof *sums);
  int *key = malloc(n * sizeof *key);
  double total = 0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) key[i] = i * 7919L % BINS;
  for (int round = 0; round < rounds; round++) {
#pragma omp parallel for
    for (int b = 0; b < BINS; b++) sums[b] = 0;
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
#pragma omp atomic
      sums[key[i]] += i % 3;
    }
#pragma omp parallel for reduction(+ : total)
    for (int b = 0; b < BINS; b++) total += sums[b] * (b % 5);
  }
  printf("%.0f\n", total);
  return 0;
}
