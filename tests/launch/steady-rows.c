// Rows behind tables of pointers, in one block or allocated one by one, are sections: an iteration that is like
// the one before takes no page fault, makes no plan and exchanges no declarations. Each loop declares its
// tables first, then the rows. Where rows lie in random order pages serve the loop from its second execution
// on, and nothing more is declared.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 60 2>&1 | FileCheck --check-prefixes=SAME,SHORT %s
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 260 2>&1 | FileCheck --check-prefixes=SAME,LONG %s
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 260 2>&1 | FileCheck --check-prefixes=LONG %s
//
// SHORT:      forks 61 61
// LONG:       forks 261 261
// LONG:       write faults 0 0
// SHORT:      declarations 122 122
// LONG:       declarations 522 522
// SAME:       section plans 10 10
// SAME:       exchanges {{[45] [45]$}}
//
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 60 apart 2>&1 | FileCheck --check-prefix=APART %s
// APART:      declarations 4 4
// APART:      section plans 4 4
#include <stdlib.h>

int main(int argc, char **argv) {
  int sweeps = atoi(argv[1]), n = 386;
  double **a = malloc(n * sizeof *a), **b = malloc(n * sizeof *b), *block = malloc(n * n * sizeof *block);
  for (int i = 0; i < n; i++) a[i] = block + i * n, b[i] = malloc(n * sizeof **b);
  for (int i = n - 1; i > 0 && argc > 2; i--) {
    int j = rand() % (i + 1);
    double *row = a[i];
    a[i] = a[j], a[j] = row;
  }
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) a[i][j] = b[i][j] = (i + j) % 17;
  for (int sweep = 0; sweep < sweeps; sweep++) {
#pragma omp parallel for
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
    double **swap = a;
    a = b;
    b = swap;
  }
  return 0;
}
