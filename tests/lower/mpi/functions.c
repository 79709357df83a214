// The call graph in the table: functions other modules or pointers can reach, and regions. What a
// function that only this module can call does, counts as done by its callers.
// RUN: clang-22 -O0 -fopenmp -fpass-plugin=%plugin -S -emit-llvm %s -o %t.ll
// RUN: FileCheck %s < %t.ll
#include <math.h>
#include <stdlib.h>

void unknown(void);
static void hidden(void) { unknown(); }
static int compare(const void *a, const void *b) { return *(int *)a - *(int *)b; }
static void through_pointer(void (*function)(void)) { function(); }
extern void (*pointer)(void);

// CHECK-DAG: @[[UNKNOWN:okl.callees.*]] = private constant [1 x ptr] [ptr @unknown]
// CHECK-DAG: @[[COMPARE:okl.callees.*]] = private constant [1 x ptr] [ptr @compare]
// CHECK-DAG: @[[BODY:okl.callees.*]] = private constant [1 x ptr] [ptr @region.omp_outlined]
// CHECK:      @okl.functions = private constant [6 x { ptr, ptr, ptr, i64, ptr, i64, ptr }] [
// CHECK-SAME: { ptr @calls_hidden, ptr @{{[^,]*}}, ptr @[[UNKNOWN]], i64 1, ptr @{{[^,]*}}, i64 0, ptr null }
// CHECK-SAME: { ptr @sorts, ptr @{{[^,]*}}, ptr @[[COMPARE]], i64 1, ptr @{{[^,]*}}, i64 0, ptr null }
// CHECK-SAME: { ptr @compare, ptr @{{[^,]*}}, ptr null, i64 0, ptr null, i64 1, ptr null }
// CHECK-SAME: { ptr @calls_pointer, ptr @{{[^,]*}}, ptr null, i64 0, ptr null, i64 2, ptr null }
// CHECK-SAME: { ptr @region, ptr @{{[^,]*}}, ptr @[[BODY]], i64 1, ptr @{{[^,]*}}, i64 0, ptr null }
// CHECK-SAME: { ptr @region.omp_outlined, ptr @{{[^,]*}}, ptr @{{[^,]*}}, i64 1, ptr @{{[^,]*}}, i64 0, ptr @okl.unsafe }
void calls_hidden(void) { hidden(); }
void sorts(int *a) { qsort(a, 10, sizeof *a, compare); }
double calls_pointer(double x) {
  through_pointer(pointer);
  return sin(x);
}
void region(int *a) {
#pragma omp parallel
  {
    hidden();
    a[0] = rand();
  }
}
