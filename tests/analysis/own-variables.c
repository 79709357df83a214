// Where a chunk begins is loaded from a variable of the thread's, which the nest stores to from chunk to chunk: it is no table of
// numbers. What is read at places that depend on it may be anywhere in the row, and no entry lies between numbers.
//
// RUN: clang-22 -O1 -g -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi -w -S -emit-llvm %s -o - | FileCheck %s
// CHECK: @okl.sections.entries = private constant [5 x {{.*}}] [{ i64, i64, i64, ptr, ptr } { i64 9, i64 1, i64 0,
void gather(int n, int m, int ***to, int ***a, int ***b, int *near) {
#pragma omp parallel
  {
#pragma omp for schedule(static, 2)
    for (int i = 1; i < n; i++) {
      if (near[i + 1] != -1) to[3][3][i] += a[3][1][near[i + 1] + 1] + b[3][1][near[i + 1] + m];
    }
  }
}
