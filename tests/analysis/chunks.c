// Chunks of a fixed length: those of a thread are one section, but the last, which may be clipped.
// RUN: clang-22 -O2 -g -fopenmp -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-accesses>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK: region at {{.*}}chunks.c:[[@LINE+6]]: complete
// CHECK: nest
// CHECK-NEXT: write a [([[LAST:.*]] / max(1, .omp.stride)) x (8 * .omp.stride)] [(1 + .omp.ub + (-1 * .omp.lb)) x 8] of 8 bytes at ((8 * .omp.lb) + a)
// CHECK-NEXT: write a [min((1 + .omp.ub + (-1 * .omp.lb)), {{.*}}) x 8] of 8 bytes at ((8 * .omp.lb) + (8 * .omp.stride * ([[LAST]] / max(1, .omp.stride))) + a)
// CHECK-NOT: write
void plain(double *a, int n) {
#pragma omp parallel for schedule(static, 4)
  for (int i = 0; i < n; i++) a[i] = i;
}

// CHECK: region at {{.*}}chunks.c:[[@LINE+6]]: complete
// CHECK: nest
// CHECK: write a {{.*}} x (16 * m * .omp.stride)] [(1 + .omp.ub + (-1 * .omp.lb)) x (16 * m)] [m x 8] of 8 bytes
// CHECK-NEXT: write a {{.*}} x (16 * m)] [m x 8] of 8 bytes
// CHECK-NOT: write
void rows(double *a, double *b, int n, int m, int chunk) {
#pragma omp parallel for schedule(static, chunk)
  for (int i = 1; i < n; i += 2)
    for (int j = 0; j < m; j++) a[i * m + j] = b[i * m + j] + 1;
}

// CHECK: region at {{.*}}chunks.c:[[@LINE+6]]: complete
// CHECK: nest
// CHECK-NEXT: write a
// CHECK-NEXT: write a
// CHECK-NOT: {{write|read}}
void unsigned_numbers(double *a, unsigned n) {
#pragma omp parallel for schedule(static, 1)
  for (unsigned i = 0; i < n; i++) a[i] = i;
}

// CHECK: region at {{.*}}chunks.c:[[@LINE+6]]: complete
// CHECK: nest
// CHECK-NEXT: write a
// CHECK-NEXT: write a
// CHECK-NOT: {{write|read}}
void monotonic(double *a, int n) {
#pragma omp parallel for schedule(monotonic : static, 4)
  for (int i = 0; i < n; i++) a[i] = i;
}

// Rows of different lengths are as inexact as in blocks.
// CHECK: region at {{.*}}chunks.c:[[@LINE+3]]: complete
// CHECK: write may bound a
void triangle(double *a, int n) {
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) a[i * n + j] = 1;
}
