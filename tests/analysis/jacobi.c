// Two-dimensional Jacobi on allocated memory: rows that are read twice are declared once, and what
// is written is declared exactly.
// RUN: clang-22 -O2 -g -fopenmp -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-accesses>' -disable-output %t.ll 2>&1 | FileCheck %s
#include <stdlib.h>

// CHECK:      region at {{.*}}jacobi.c:[[@LINE+14]]: complete
// CHECK-DAG:    direct change+0, 8 bytes
// CHECK-DAG:    direct n+0, 4 bytes
// CHECK-DAG:    direct a+0, 8 bytes
// CHECK-DAG:    direct b+0, 8 bytes
// CHECK:        nest {{.*}}jacobi.c:[[@LINE+12]]
// CHECK-DAG:      read a {{\[\[if n sgt 2\]}} ({{.*}}min((-3 + n), .omp.ub){{.*}}) x (8 * n)] [(-1 + (-1 + n)) x 8] of 8 bytes at (8 + (8 * n * .omp.iv) + a)
// CHECK-DAG:      read a {{\[\[if n sgt 2\]}} ({{.*}}min((-3 + n), .omp.ub){{.*}}) x (8 * n)] [(1 + (-1 + n)) x 8] of 8 bytes at ((8 * n * (1 + .omp.iv)) + a)
// CHECK-DAG:      write b {{\[\[if n sgt 2\]}} ({{.*}}min((-3 + n), .omp.ub){{.*}}) x (8 * n)] [(-1 + (-1 + n)) x 8] of 8 bytes at (8 + (8 * n * (1 + .omp.iv)) + b)
// CHECK-NOT:  {{read|write}}
double sweeps(double *a, double *b, int n, int steps) {
  double change = 0;
  for (int t = 0; t < steps; t++) {
    change = 0;
#pragma omp parallel for reduction(+ : change)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        b[i * n + j] = 0.25 * (a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1]);
        change += b[i * n + j] - a[i * n + j];
      }
    double *swap = a;
    a = b;
    b = swap;
  }
  return change;
}
