// With two threads on each rank, too, an iteration that is like the one before takes no page fault, makes
// no plan and exchanges no declarations; what moves is one border row each way. Each thread declares.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OMP_NUM_THREADS=2 OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 60 2>&1 | FileCheck --check-prefixes=SAME,SHORT %s
// RUN: env OMP_NUM_THREADS=2 OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 260 2>&1 | FileCheck --check-prefixes=SAME,LONG %s
// RUN: env OMP_NUM_THREADS=2 OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 260 2>&1 | FileCheck --check-prefixes=SAME,LONG %s
//
// SHORT:      forks 62 62
// LONG:       forks 262 262
// SAME:       read faults 0 0
// SAME-NEXT:  write faults 0 0
// SHORT:      declarations 122 122
// LONG:       declarations 522 522
// SAME:       section plans 8 10
// SAME-NEXT:  exchanges 3 3
// SHORT-NEXT: section copies 59 60
// LONG-NEXT:  section copies 259 260
#include <omp.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int sweeps = argc > 1 ? atoi(argv[1]) : 10, n = argc > 2 ? atoi(argv[2]) : 386, team = 0;
  double *a = malloc(n * n * sizeof *a), *b = malloc(n * n * sizeof *b), change = 0;
#pragma omp parallel
#pragma omp master
  team = omp_get_num_threads();
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) a[i * n + j] = b[i * n + j] = (i + j) % 17;
  for (int sweep = 0; sweep < sweeps; sweep++) {
#pragma omp parallel for reduction(+ : change)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        b[i * n + j] = 0.25 * (a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1]);
        change += b[i * n + j];
      }
    double *swap = a;
    a = b;
    b = swap;
  }
  return team != 4;
}
