// A region whose sweeps deal an array out anew again and again, in small pieces, goes back to pages on the way:
// it may have any number of barriers. (Found with the sweeps of NPB's SP: most of a minute before its first
// region ended.)
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: clang-22 -O2 -fopenmp %s -o %t.openmp
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t > %t.text 2>&1
// RUN: %t.openmp >> %t.text
// RUN: FileCheck %s < %t.text
//
// CHECK: sum [[SUM:.*]]
// CHECK: barriers 13824 13824
// CHECK: exchanges {{[0-9]?[0-9]?[0-9] [0-9]?[0-9]?[0-9]$}}
// CHECK: sum [[SUM]]
#include <stdio.h>

enum { N = 48, SWEEPS = 3 };
static double a[N][N][N];

int main(void) {
#pragma omp parallel
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
#pragma omp for
        for (int k = 0; k < N; k++)
          a[i][j][k] += i + 2 * j + 3 * k;
      }
    for (int i = 0; i < N; i++)
      for (int k = 0; k < N; k++) {
#pragma omp for
        for (int j = 0; j < N; j++)
          a[i][j][k] = 0.5 * a[i][j][k] + j;
      }
  }
  double sum = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        sum += a[i][j][k];
  printf("sum %.17g\n", sum);
  return 0;
}
