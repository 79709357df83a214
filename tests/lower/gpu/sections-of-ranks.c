// What a rank's iterations access of the arrays that a kernel is passed, as the run time reads it: okl_abi::gpu::section says how.
// In front stand the positions of the first iteration and the last one.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi+cuda,cpu -S -emit-llvm %s -o - | FileCheck %s
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=cuda,cpu -S -emit-llvm %s -o - | FileCheck --check-prefix=ALONE --implicit-check-not=okl.device.sections %s
// ALONE: @okl.device.kernel

// Reads 8 bytes of parameter 3 at 8 * i.
// CHECK: @okl.device.sections = private constant [10 x i64] [i64 1, i64 2, i64 3, i64 0, i64 8, i64 1, i64 8, i64 1, i64 -1, i64 0]
double sum(int n, double *x) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += x[i];
  return sum;
}

// Reads 8 bytes at 16 + 8 * m + 8 * m * i + 8 * j, with j up to what is between 0 and m - 2.
// CHECK: @okl.device.sections.{{[0-9]+}} = private constant [101 x i64] [i64 4, i64 5, i64 8, i64 0, i64 8, i64 4, i64 16, i64 0, i64 8, i64 1, i64 6, i64 8, i64 2, i64 6, i64 -1, i64 8, i64 1, i64 -3, i64 2, i64 -1, i64 0, i64 1, i64 1, i64 -2, i64 2, i64 1, i64 1, i64 0, i64 2, i64 -1, i64 0, i64 1, i64 1, i64 6, i64 0,
void stencil(int n, int m, double *x, double *y) {
#pragma omp parallel for
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++) y[i * m + j] = x[i * m + j + 1] + x[(i + 1) * m + j];
}

// Reads and writes as above, and reads anywhere in what parameter 4 leads to.
// CHECK: @okl.device.sections.{{[0-9]+}} = private constant [21 x i64] [i64 1, i64 2, i64 3, i64 0, i64 4, i64 1, i64 4, i64 1, i64 -1, i64 0, i64 4, i64 0, i64 0, i64 5, i64 1, i64 8, i64 1, i64 8, i64 1, i64 -1, i64 0]
void gathered(int n, const int *map, double *x, double *y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) y[i] = x[map[i]];
}

// A loop that is left early.
// CHECK-NOT: @okl.device.sections.{{[0-9]+}} =
void searched(int n, const int *all, int *places) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (all[j] == i) {
        places[i] = j;
        break;
      }
}
