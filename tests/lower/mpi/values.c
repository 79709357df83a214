// A declared value is a sum: of the address of a variable and a number, in the table, and of what is computed, once for
// all values that differ in the others only. What is loaded, though not for a declaration, is loaded behind it.
// RUN: clang-22 -O2 -fopenmp -fno-vectorize -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck %s
double a[1000], b[1000], factor;

// CHECK: @okl.sections.values = private constant [6 x { i64, ptr, i64 }] [{ i64, ptr, i64 } { i64 0, ptr @b, i64 8 }, { i64, ptr, i64 } { i64 -1, ptr null, i64 8 }, { i64, ptr, i64 } { i64 1, ptr null, i64 0 },
// CHECK-SAME: { i64, ptr, i64 } { i64 0, ptr @a, i64 0 }

// CHECK-LABEL: define internal void @scale.omp_outlined(
// CHECK-NOT:     load double
// CHECK:         call void @okl_mpi_sections(
// CHECK:         load double, ptr @factor
void scale(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = factor * b[i + 1];
}
