// Writable variables move to the shared sections; constants, string literals, critical sections'
// locks and what other objects define do not.
// RUN: clang-22 -O0 -fopenmp -fcommon -fpass-plugin=%plugin -S -emit-llvm %s -o %t.ll
// RUN: FileCheck %s < %t.ll
// RUN: clang-22 -O0 -fopenmp -fcommon -fpass-plugin=%plugin -c %s -o %t.o
// RUN: readelf -SW %t.o | FileCheck --check-prefix=OBJECT %s

// CHECK-DAG: @initialised = dso_local global i32 3, section "okl_data", align 4
int initialised = 3;
// CHECK-DAG: @zero = dso_local global [100 x double] zeroinitializer, section ".llvm.linkonce.b.okl", align 16
double zero[100] = {0};
// CHECK-DAG: @tentative = weak dso_local global i32 0, section ".llvm.linkonce.b.okl", align 4
int tentative;
// CHECK-DAG: @hidden = internal global i32 4, section "okl_data", align 4
static int hidden = 4;
// CHECK-DAG: @f.count = internal global i32 0, section ".llvm.linkonce.b.okl", align 4
// CHECK-DAG: @constant = dso_local constant i32 5, align 4
const int constant = 5;
// CHECK-DAG: @weak = weak dso_local global i32 6, section "okl_data", align 4
__attribute__((weak)) int weak = 6;
// CHECK-DAG: @elsewhere = external global i32, align 4
extern int elsewhere;
// CHECK-DAG: @.gomp_critical_user_.var = common global [8 x i32] zeroinitializer, align 8
// CHECK-DAG: @second_name = dso_local alias i32, ptr @hidden
extern int second_name __attribute__((alias("hidden")));

int f(void) {
  static int count;
#pragma omp critical
  count++;
  return count + elsewhere + hidden;
}

// The zero-initialised section takes no room in the file.
// OBJECT-DAG: okl_data {{ *}}PROGBITS
// OBJECT-DAG: .llvm.linkonce.b.okl {{ *}}NOBITS
