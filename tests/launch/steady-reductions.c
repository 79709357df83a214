// A reduction is one message from each rank but the first, of the items' bytes: up a tree, and no answer.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 4 %t 40 2>&1 | FileCheck --check-prefixes=SAME,SHORT %s
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 4 %t 140 2>&1 | FileCheck --check-prefixes=SAME,LONG %s
//
// SHORT:      messages 105 95 137 95
// LONG:       messages 305 295 437 295
// A page travels with the first fork; then there are 16 bytes in each message.
// SHORT:      data messages 3 40 40 40
// SHORT-NEXT: data bytes 12288 640 640 640
// LONG:       data messages 3 140 140 140
// LONG-NEXT:  data bytes 12288 2240 2240 2240
// SAME:       read faults 0 0 0 0
// SAME-NEXT:  write faults 0 0 0 0
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 10, n = 1 << 14;
  double *a = malloc(n * sizeof *a), all = 0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = i % 17;
  for (int round = 0; round < rounds; round++) {
    double sum = 0;
    float most = 0;
#pragma omp parallel for reduction(+ : sum) reduction(max : most)
    for (int i = 0; i < n; i++) {
      sum += a[i];
      most = a[i] > most ? a[i] : most;
    }
    all += sum * most;
  }
  printf("%.12g\n", all);
  return 0;
}
