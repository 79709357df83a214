// An iteration that is like the one before takes no page fault, makes no plan and exchanges no
// declarations; what moves is one border row each way. Between nodes it moves in one message each way that
// nobody asks for; the fork goes along with the one, and the join with the other.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 60 2>&1 | FileCheck --check-prefixes=SAME,SHORT %s
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 260 2>&1 | FileCheck --check-prefixes=SAME,LONG %s
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 260 2>&1 | FileCheck --check-prefixes=SAME,LONG,APART %s
// On four ranks six rows move in a sweep, four of them with forks and joins, and one fork and one join on its own.
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 4 %t 60 2>&1 | FileCheck --check-prefix=FOUR %s
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 4 %t 260 2>&1 | FileCheck --check-prefix=MORE %s
//
// FOUR:      messages 183 169 232 107
// FOUR-NEXT: bytes
// FOUR-NEXT: data messages 64 121 121 61
// MORE:      messages 583 569 832 307
// MORE-NEXT: bytes
// MORE-NEXT: data messages 264 521 521 261
// SHORT:      forks 61 61
// LONG:       forks 261 261
// APART:      messages 290 279
// A page travels with the first fork, and a row at the end for a sweep that does not come.
// APART:      data messages 262 261
// APART-NEXT: data bytes 805904 801808
// SAME:       read faults 0 0
// SAME-NEXT:  write faults 0 0
// SHORT:      declarations 61 61
// LONG:       declarations 261 261
// SAME:       section plans 5 5
// SAME-NEXT:  exchanges 3 3
// The border columns, once; then the rows without them.
// SHORT:      section copies 60 60
// SHORT-NEXT: section bytes 184336 184336
// LONG:       section copies 260 260
// LONG-NEXT:  section bytes 798736 798736
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int sweeps = argc > 1 ? atoi(argv[1]) : 10, n = argc > 2 ? atoi(argv[2]) : 386;
  double *a = malloc(n * n * sizeof *a), *b = malloc(n * n * sizeof *b);
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) a[i * n + j] = b[i * n + j] = (i + j) % 17;
  for (int sweep = 0; sweep < sweeps; sweep++) {
#pragma omp parallel for
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        b[i * n + j] = 0.25 * (a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1]);
    double *swap = a;
    a = b;
    b = swap;
  }
  return 0;
}
