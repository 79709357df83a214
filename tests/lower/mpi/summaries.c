// What a function does with memory is left for regions of other files, with an identity in front of its definition.
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -S -emit-llvm %s -o %t.ll
// RUN: FileCheck %s < %t.ll
// RUN: FileCheck %s --check-prefix=NONE < %t.ll
// RUN: clang-22 -O0 -fopenmp -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck %s --check-prefix=UNSIMPLIFIED
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int counts[8];
double large[10000];

// Parameters as bits, variables, calls.
// CHECK-DAG: @okl.function_summaries = private constant [7 x {{.*}}] [
// CHECK-DAG: { ptr @pure, i64 [[PURE:[-0-9]+]], i64 [[REST:[-0-9]+]], i64 4, i64 0, ptr null, i64 0, ptr null, i64 0, ptr null, i64 0 }
// CHECK-DAG: { ptr @second, i64 {{[-0-9]+}}, i64 {{[-0-9]+}}, i64 4, i64 2, ptr null, i64 0, ptr null, i64 0, ptr null, i64 0 }
// CHECK-DAG: { ptr @count, i64 {{[-0-9]+}}, i64 {{[-0-9]+}}, i64 4, i64 0, ptr @[[OBJECTS:okl.objects[.0-9]*]], i64 1, ptr null, i64 0, ptr null, i64 0 }
// CHECK-DAG: @[[OBJECTS]] = private constant [1 x { ptr, i64 }] [{ ptr, i64 } { ptr @counts, i64 32 }]
// CHECK-DAG: { ptr @calls, i64 {{[-0-9]+}}, i64 {{[-0-9]+}}, i64 4, i64 2, ptr null, i64 0, ptr @[[CALLS:okl.calls[.0-9]*]], i64 1, ptr null, i64 0 }
// The only argument is a variable of its own (0xfe).
// CHECK-DAG: @[[CALLS]] = private constant [1 x { ptr, ptr, ptr, i64 }] [{ ptr, ptr, ptr, i64 } { ptr @elsewhere, ptr @okl.translated.elsewhere, ptr {{.*}}, i64 -72057594037927938 }]
// CHECK-DAG: define {{.*}}double @pure({{.*}} prefix [2 x i64] [i64 [[PURE]], i64 [[REST]]]
// The version for several ranks declares what it accesses.
// CHECK-DAG: { ptr @shares.mpi, i64 {{[-0-9]+}}, i64 {{[-0-9]+}}, i64 5, i64 0, ptr null, i64 0, ptr null, i64 0, ptr null, i64 0 }
// CHECK-DAG: { ptr @shares, i64 {{[-0-9]+}}, i64 {{[-0-9]+}}, i64 4, i64 0, ptr null, i64 0, ptr @{{[^,]*}}, i64 1, ptr null, i64 0 }
// CHECK: define internal void @shares.mpi(
// CHECK: call void @okl_mpi_sections(
// NONE-NOT: { ptr @into_large, i64
// NONE-NOT: { ptr @indirect, i64
// NONE-NOT: { ptr @allocates, i64
// UNSIMPLIFIED: @okl.summaries = internal global { ptr, i64 } zeroinitializer
double pure(double x) { return sin(x) * 2; }
void second(double *a, const double *b) {
  if (*b > 1e9)
    exit(1);
}
void count(int which) { counts[which & 7]++; }
void elsewhere(double *x);
void calls(double *a, double *b) {
  double own = 1;
  second(NULL, b);
  elsewhere(&own);
}
void into_large(int i) { large[i] = 1; }
double indirect(double (*f)(double)) { return f(1); }
double *allocates(void) { return malloc(8); }
void shares(void) {
#pragma omp for
  for (int i = 0; i < 10000; i++)
    large[i] = i;
}
void says(const char *what, int line) { fprintf(stderr, "%s: %d\n", what, line); }
