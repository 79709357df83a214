// Chunks of a fixed length, dealt out in turn, are sections like blocks are: however many there are, an
// iteration that is like the one before takes no page fault, makes no plan and exchanges no declarations.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 3 %t 60 2>&1 | FileCheck --check-prefixes=SAME,SHORT %s
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 3 %t 260 2>&1 | FileCheck --check-prefixes=SAME,LONG %s
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 3 %t 260 2>&1 | FileCheck --check-prefixes=SAME,LONG %s
//
// SHORT:      forks 121 121 121
// LONG:       forks 521 521 521
// SAME:       read faults 0 0 0
// SAME-NEXT:  write faults 0 0 0
// SHORT:      declarations 122 122 122
// LONG:       declarations 522 522 522
// SAME:       section plans 10 10 10
// SAME-NEXT:  exchanges 5 5 5
#include <stdlib.h>

int main(int argc, char **argv) {
  int sweeps = atoi(argv[1]), n = 100003, rows = 301, columns = 1030;
  double *a = malloc(n * sizeof *a), *b = malloc(rows * columns * sizeof *b), *c = malloc(rows * columns * sizeof *c);
#pragma omp parallel
  {
#pragma omp for schedule(static, 1) nowait
    for (int i = 0; i < n; i++) a[i] = i;
#pragma omp for schedule(static, 8)
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < columns; j++) b[i * columns + j] = c[i * columns + j] = j;
  }
  for (int sweep = 0; sweep < sweeps; sweep++) {
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < n; i++) a[i] += b[i];
#pragma omp parallel for schedule(static, 8)
    for (int i = 1; i < rows - 1; i++)
      for (int j = 0; j < columns; j++) c[i * columns + j] = b[(i - 1) * columns + j] + a[j];
    double *swap = b;
    b = c;
    c = swap;
  }
  return 0;
}
