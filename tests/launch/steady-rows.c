// Rows behind tables of pointers, in one block or allocated one by one, are sections: an iteration that is like
// the one before takes no page fault, makes no plan and exchanges no declarations. Each loop declares its
// tables first, then the rows. Where rows lie in random order pages serve the loop from its second execution
// on, and nothing more is declared.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 60 > %t.text 2>&1
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 260 >> %t.text 2>&1
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 260 >> %t.text 2>&1
// RUN: FileCheck %s < %t.text
//
// The first sweeps make a plan and an exchange more or less, by where in its page the first row lies: the program's
// environment stands in front of it.
//
// CHECK: forks 61 61
// CHECK: write faults 0 0
// CHECK: declarations 122 122
// CHECK: section plans [[PLANS:[0-9]+ 10]]{{$}}
// CHECK: exchanges [[EXCHANGES:[34] [34]]]{{$}}
// CHECK: forks 261 261
// CHECK: write faults 0 0
// CHECK: declarations 522 522
// CHECK: section plans [[PLANS]]{{$}}
// CHECK: exchanges [[EXCHANGES]]{{$}}
// CHECK: forks 261 261
// CHECK: write faults 0 0
// CHECK: declarations 522 522
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
