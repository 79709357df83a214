// Loops that are collapsed, over rows with borders: what they read is whole rows of what is written, neighbours in
// other rows, and ones that each turn chooses among.
// RUN: clang++-22 -O2 -g -fopenmp -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-accesses>' -disable-output %t.ll 2>&1 | FileCheck %s
void rows(int n, int top, int bottom, double *a, double *b, double *wind) {
  // CHECK: region at {{.*}}collapsed.cpp:[[@LINE+4]]: complete
  // CHECK: read bound a [{{.*}}] [max(1, .capture_expr.) x 8] of 8 bytes at
  // CHECK-NEXT: read bound a [{{.*}}] [max(1, .capture_expr.) x 8] of 8 bytes at
  // CHECK-NEXT: write may bound b [{{.*}}] [max(1, .capture_expr.) x 8] of 8 bytes at
#pragma omp parallel for collapse(2)
  for (int j = top + 1; j < bottom; j++)
    for (int i = 0; i < n; i++)
      b[i + (j - 1) * (long)n * 2] = a[i + (j - 1) * (long)n * 2] + a[i + (j + 1) * (long)n * 2];

  // CHECK: region at {{.*}}collapsed.cpp:[[@LINE+5]]: complete
  // CHECK-NOT: anywhere
  // CHECK: read bound a [{{.*}}] [max(1, .capture_expr.) x 8] of 8 bytes at
  // CHECK-NEXT: read bound a [{{.*}}] [max(1, .capture_expr.) x 8] of 8 bytes at
  // CHECK-NEXT: write may bound b
#pragma omp parallel for collapse(2)
  for (int j = top + 1; j < bottom; j++)
    for (int i = 0; i < n; i++) {
      int from = wind[i + j * (long)n * 2] > 0 ? j - 1 : j + 1;
      b[i + j * (long)n * 2] = a[i + from * (long)n * 2];
    }

  // One of two arrays.
  // CHECK: region at {{.*}}collapsed.cpp:[[@LINE+4]]: complete
  // CHECK-NOT: anywhere
  // CHECK-DAG: read bound a [{{.*}} x 8] of 8 bytes
  // CHECK-DAG: read bound wind [{{.*}} x 8] of 8 bytes
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double *from = wind[i] > 0 ? a : wind;
    b[i] = from[i + 1];
  }
}
