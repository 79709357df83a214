// The form of what threads run is that of clang's `parallel for`; what stays on one thread is told of.
// RUN: clang++-22 -std=c++17 -O0 -fpass-plugin=%plugin -S -emit-llvm %s -o %t.ll && FileCheck %s < %t.ll && FileCheck --check-prefix=BODIES %s < %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-loops>' -disable-output %t.ll 2>&1 | FileCheck --check-prefix=REGION %s
// RUN: clang++-22 -std=c++17 -O2 -Rpass=okl -Rpass-missed=okl -fpass-plugin=%plugin -c %s -o %t.o 2>&1 | FileCheck --check-prefix=TOLD --implicit-check-not=remark: %s
// RUN: clang++-22 -std=c++17 -O2 -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck --check-prefix=FAST %s
#include "okl.h"

// CHECK-DAG: @[[PLAIN:okl.ident.2]] = private constant { i32, i32, i32, i32, ptr } { i32 0, i32 2, i32 0, i32 22, ptr @okl.source }
// CHECK-DAG: @okl.ident.514 = private constant { i32, i32, i32, i32, ptr } { i32 0, i32 514, i32 0, i32 22, ptr @okl.source }

// CHECK-LABEL: define dso_local void @add(
// CHECK:       [[THREAD:%.*]] = call i32 @__kmpc_global_thread_num(ptr @okl.ident.2)
// CHECK:       [[MANY:%.*]] = icmp sge i64 {{.*}}, 2
// CHECK:       br i1 [[MANY]], label %[[FORK:.*]], label %[[SERIAL:.*]]
// CHECK:       [[SERIAL]]:
// CHECK-NEXT:    call void @__kmpc_serialized_parallel(ptr @okl.ident.2, i32 [[THREAD]])
// CHECK-NEXT:    store i32 [[THREAD]], ptr [[ID:%.*]], align 4
// CHECK-NEXT:    store i32 0, ptr [[BOUND:%.*]], align 4
// CHECK-NEXT:    call void @add.omp_outlined(ptr [[ID]], ptr [[BOUND]], i64 {{.*}}, i64 {{.*}}, ptr {{.*}}, ptr {{.*}})
// CHECK-NEXT:    call void @__kmpc_end_serialized_parallel(ptr @okl.ident.2, i32 [[THREAD]])
// CHECK:       [[FORK]]:
// CHECK-NEXT:    call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr @okl.ident.2, i32 4, ptr @add.omp_outlined, i64 {{.*}}, i64 {{.*}}, ptr {{.*}}, ptr {{.*}})

// What was lowered is a region of OpenMP's to whatever looks at it later.
// REGION:       @outer loop {{.*}}add
// REGION-NEXT:    body add.omp_outlined
// REGION-NEXT:    team
// REGION:         step 0: static i64 loop, each thread; join
// REGION-NEXT:  worksharing loop {{.*}}add

// BODIES-LABEL: define internal void @add.omp_outlined(
// BODIES:         call void @__kmpc_for_static_init_8(ptr @okl.ident.514, i32 {{.*}}, i32 34, ptr {{.*}}, ptr {{.*}}, ptr {{.*}}, ptr {{.*}}, i64 1, i64 1)
// BODIES-NOT:     urem
// BODIES:         call void @__kmpc_for_static_fini(ptr @okl.ident.514,
// FAST-LABEL:   define dso_local void @add(
// FAST:           @__kmpc_fork_call({{.*}}, i32 4, ptr nonnull @add.omp_outlined, ptr %1, ptr %2, i64 %{{.*}}, i64 %{{.*}})
// TOLD:         parallel.cpp:[[# @LINE + 2]]:{{.*}}: remark: threads share the blocks of this @outer loop [
KERNEL void add(int n, const float *a, float *b) {
  for (OUTER int o = 0; o < n; o += 16)
    for (INNER int i = 0; i < 16; ++i)
      b[o + i] += a[o + i];
}

// Nobody else may have what a block has.
// BODIES-LABEL: define internal void @own.omp_outlined(
// BODIES-DAG:     alloca [32 x float], align 64
// BODIES-DAG:     alloca [8 x float], align 64
// BODIES-DAG:     alloca [3 x i32], align
// BODIES:         load i32, ptr %0
// BODIES-NOT:     alloca
// BODIES:         urem
// BODIES:         call void @__kmpc_for_static_fini(
// TOLD:         parallel.cpp:[[# @LINE + 2]]:{{.*}}: remark: threads share the blocks of this @outer loop; 3 loops are counted through as one [
KERNEL void own(int n, const float *a, float *b) {
  for (OUTER int z = 0; z < n; ++z)
    for (OUTER int y = n; y > 1; y -= 2)
      for (OUTER unsigned x = 0; x < 4; ++x) {
        SHARED float s[32];
        EXCLUSIVE float mine;
        int sizes[3] = {z, y, int(x)};
        for (INNER int i = 0; i < 8; ++i)
          s[i] = mine = a[sizes[i % 3]];
        for (INNER int i = 0; i < 8; ++i)
          b[(z * n + y) * 4 + x + i] = mine + s[7 - i];
      }
}

// TOLD:         parallel.cpp:[[# @LINE + 3]]:{{.*}}: remark: the blocks of this @outer loop run on one thread: its end is computed by a function [
int end();
KERNEL void called(int *a) {
  for (OUTER int o = 0; o < end(); ++o)
    for (INNER int i = 0; i < 4; ++i)
      a[o] = i;
}
// TOLD:         parallel.cpp:[[# @LINE + 2]]:{{.*}}: remark: the blocks of this @outer loop run on one thread: a block needs 40{{.*}} bytes on the stack, and threads have room for 262144 [
KERNEL void large(int n, float *a) {
  for (OUTER int o = 0; o < n; ++o) {
    SHARED float s[100000];
    for (INNER int i = 0; i < 4; ++i)
      s[i * 20000] = a[i];
    for (INNER int i = 0; i < 4; ++i)
      a[i] = s[60000 - i * 20000];
  }
}
// TOLD:         parallel.cpp:[[# @LINE + 2]]:{{.*}}: remark: the blocks of this @outer loop run on one thread: it compares only a part of its iterator [
KERNEL void narrow(int n, int *a) {
  for (OUTER long o = 0; (short)o < n; ++o)
    for (INNER int i = 0; i < 4; ++i)
      a[o] = i;
}

struct Large {
  int values[8];
};
// TOLD:         parallel.cpp:[[# @LINE + 2]]:{{.*}}: remark: the blocks of this @outer loop run on one thread: it may change a parameter of the kernel [
KERNEL void changed(int n, Large large, int *a) {
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 4; ++i) {
      large.values[i] += a[o];
      a[o] = large.values[i];
    }
}
// TOLD:         parallel.cpp:[[# @LINE + 2]]:{{.*}}: remark: threads share the blocks of this @outer loop [
KERNEL void handed(int n, Large large, int *a) {
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 4; ++i)
      a[o] = large.values[i];
}
