// LLVM knows that the copies of different variables are different objects: it vectorises without asking whether they
// overlap. What tells it so is gone in the end.
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck %s --implicit-check-not=okl.apart
static double x[1000], y[1000];
#pragma omp threadprivate(x, y)

// CHECK-LABEL: define internal void @work.omp_outlined(
// CHECK-DAG:     load ptr, ptr @okl.tp.x
// CHECK-DAG:     load ptr, ptr @okl.tp.y
// CHECK-NOT:     icmp ult ptr
// CHECK:         fmul <2 x double>
// CHECK:       ret void
void work(double *sum, int n) {
#pragma omp parallel
  {
    for (int i = 0; i < n; i++) x[i] = 3 * y[i];
    for (int i = 0; i < n; i++) y[i] += x[n - 1 - i];
#pragma omp critical
    *sum += x[n / 2] + y[n / 3];
  }
}
