// One region open over a whole solver, whose reductions all ranks read, as conjugate gradients have it. What rank 0 sets
// for all costs no fault, and no message of its own: it goes along where the ranks meet. So a sweep costs each rank but
// the first four messages, one for each reduction and barrier.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 3 %t 100 2>&1 | FileCheck --check-prefixes=SAME,SHORT %s
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 3 %t 300 2>&1 | FileCheck --check-prefixes=SAME,LONG %s
//
// SAME:      3840
// SHORT:     messages 616 421 421
// LONG:      messages 1816 1221 1221
// SAME:      read faults 0 2 2
// SAME-NEXT: write faults 1 0 0
#include <stdio.h>
#include <stdlib.h>

static double old, norm;

int main(int argc, char **argv) {
  int sweeps = argc > 1 ? atoi(argv[1]) : 10, n = 3072;
  double *r = malloc(n * sizeof *r), *p = malloc(n * sizeof *p);
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; i++) r[i] = p[i] = 1 + i % 2;
    for (int sweep = 0; sweep < sweeps; sweep++) {
#pragma omp single
      {
        old = norm;
        norm = 0;
      }
#pragma omp for reduction(+ : norm)
      for (int i = 0; i < n; i++) norm += r[i] * p[i];
      double factor = norm / (norm + old);
#pragma omp for
      for (int i = 0; i < n; i++) p[i] = r[i] * factor;
    }
  }
  printf("%.12g\n", norm);
  return 0;
}
