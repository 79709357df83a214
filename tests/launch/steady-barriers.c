// One region open over a whole solver, three ranks on three nodes. A barrier in it costs each rank but the
// first one message, and one back; what a sweep needs of other ranks comes unasked: four border rows, of which two
// go along with such messages. The one page fault is that of the last line.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 3 %t 100 2>&1 | FileCheck --check-prefixes=SAME,SHORT %s
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 3 %t 300 2>&1 | FileCheck --check-prefixes=SAME,LONG %s
//
// SHORT:     barriers 201 201 201
// LONG:      barriers 601 601 601
// SHORT:     messages 425 327 324
// LONG:      messages 1225 927 924
// SHORT:     data messages 104 201 102
// LONG:      data messages 304 601 302
// SAME:      read faults 1 0 0
// SAME-NEXT: write faults 0 0 0
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int sweeps = argc > 1 ? atoi(argv[1]) : 10, n = 386;
  double *a = malloc(n * n * sizeof *a), *b = malloc(n * n * sizeof *b);
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) a[i * n + j] = b[i * n + j] = (i + j) % 17;
    for (int sweep = 0; sweep < sweeps; sweep++) {
#pragma omp for
      for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
          b[i * n + j] = 0.25 * (a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1]);
#pragma omp for
      for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) a[i * n + j] = b[i * n + j];
    }
  }
  printf("%.12g\n", a[n * n / 2 + 7]);
  return 0;
}
