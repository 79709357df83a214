// A histogram that each thread counts for itself and adds to the common one in a critical section, and a sum and
// a maximum in another one, in every iteration, on nodes of one rank. The sections take no lock and cost no fault:
// what they add goes to the owner of the bins in one message before the end of the region. So the messages of
// 60 iterations do not depend on the work, and the regions do not leave section mode.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 60 20000 2>&1 | FileCheck --check-prefixes=CHECK,TWO %s
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 60 40000 2>&1 | FileCheck --check-prefixes=CHECK,TWO %s
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 3 %t 60 20000 2>&1 | FileCheck --check-prefixes=CHECK,THREE %s
// CHECK:       locks {{0 +0}}
// TWO:         atomics 123000 123000
// TWO:         messages 434 365
// THREE:       messages 868 556 556
// CHECK:       read faults {{0 +0}}
// CHECK-NEXT:  write faults {{0 +0}}
// TWO:         section plans 5 5
// TWO-NEXT:    exchanges 4 4
#include <stdio.h>
#include <stdlib.h>

#define BINS 2048

static double sums[BINS];

int main(int argc, char **argv) {
  int rounds = atoi(argv[1]), n = atoi(argv[2]);
  int *key = malloc(n * sizeof *key);
  double total = 0, heaviest = 0;
  long count = 0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) key[i] = i * 7919L % BINS;
  for (int round = 0; round < rounds; round++) {
#pragma omp parallel for
    for (int b = 0; b < BINS; b++) sums[b] = 0;
#pragma omp parallel
    {
      double local[BINS] = {0}, most = 0;
      int counted = 0;
#pragma omp for nowait
      for (int i = 0; i < n; i++) {
        local[key[i]] += i % 3;
        counted++;
      }
      for (int b = 0; b < BINS; b++)
        if (local[b] > most) most = local[b];
#pragma omp critical
      for (int b = 0; b < BINS; b++) sums[b] += local[b];
#pragma omp critical(heaviest)
      {
        if (most > heaviest) heaviest = most;
        count += counted;
      }
    }
#pragma omp parallel for reduction(+ : total)
    for (int b = 0; b < BINS; b++) total += sums[b] * (b % 5);
  }
  printf("%.0f %ld\n", total, count);
  return 0;
}
