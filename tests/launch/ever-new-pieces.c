// A region whose sweeps deal an array out anew again and again, in small pieces, goes back to pages on the way:
// it may have any number of barriers. (Found with the sweeps of NPB's SP, before what repeats itself was
// remembered: most of a minute before its first region ended.)
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: clang-22 -O2 -fopenmp %s -o %t.openmp
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t > %t.text 2>&1
// RUN: %t.openmp >> %t.text
// RUN: FileCheck %s < %t.text
//
// CHECK: sum [[SUM:.*]]
// CHECK: barriers 2200 2200
// CHECK: exchanges {{(1[0-9]|20|21)[0-9][0-9] (1[0-9]|20|21)[0-9][0-9]$}}
// CHECK: sum [[SUM]]
#include <stdio.h>

enum { ROWS = 1024, N = 384, SWEEPS = 2200 };
static double a[ROWS][N];

int main(void) {
#pragma omp parallel
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    // The shares are other ones in every sweep.
    int from = sweep % 128, to = N - sweep / 128;
#pragma omp for
    for (int j = from; j < to; j++)
      for (int i = 0; i < ROWS; i++)
        a[i][j] += i + 2 * j + sweep % 7;
  }
  double sum = 0;
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < N; j++)
      sum += a[i][j];
  printf("sum %.17g\n", sum);
  return 0;
}
