// A loop over a set gets a second function that works on as many elements as a vector register holds: rows are
// loaded whole and turned into vectors of a component each, conditions become selections, increments are added
// element by element, and what is left is for the first function.
//
// RUN: clang++-22 -std=c++11 -O3 -march=haswell -fno-slp-vectorize -I%op2-include -fpass-plugin=%plugin -S -emit-llvm %s -o %t.ll
// RUN: FileCheck %s < %t.ll
// RUN: clang++-22 -std=c++11 -O3 -march=haswell -g -I%op2-include -fpass-plugin=%plugin -Rpass=okl -Rpass-missed=okl -S -emit-llvm %s -o %t.ll 2>&1 | grep "remark: op_par_loop runs" | FileCheck --check-prefix=REMARK --implicit-check-not=remark: %s
// RUN: clang++-22 -std=c++11 -O0 -I%op2-include -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck --check-prefix=DEBUG --implicit-check-not=okl.lanes %s
// RUN: clang++-22 -std=c++11 -O3 -I%op2-include -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck --check-prefix=SHORT --implicit-check-not=okl.lanes %s
// RUN: clang++-22 -std=c++11 -O1 -Xclang -disable-llvm-passes -march=haswell -g -I%op2-include -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-lanes>' -disable-output %t.ll 2>&1 | FileCheck --check-prefix=PRINT %s
//
// PRINT:      lanes.cpp:35: op_par_loop runs 4 elements at a time
// PRINT-NEXT: {{.*}}lanes.cpp:49: op_par_loop runs one element at a time: it computes too little for what it moves, unless its data are stored component by component
// PRINT:      op_par_loop runs on one thread: the kernel calls printf
#include "op_seq.h"

#include <cmath>
#include <cstdio>

static void flux(double const *a, double const *b, double *out) {
  double f = a[0] * b[1] / a[3];
  out[0] += f > 0 ? f : sqrt(b[2]);
  out[1] -= f * a[2];
}

// CHECK-LABEL: define dso_local void @edges(
// CHECK:         call void @okl_op2_par_loop_v8({{.*}}, ptr nonnull @okl.range.[[NAME:.*flux.*]], ptr nonnull @okl.lanes.[[NAME]], i32 4, i32 1, ptr nonnull @okl.components.[[NAME]], ptr nonnull @okl.component_lanes.[[NAME]], ptr null, ptr null)
// DEBUG-LABEL: define {{.*}} @edges(
// DEBUG:         call void @okl_op2_par_loop_v8({{.*}}, ptr null, i32 0, i32 0, ptr {{.*}}@okl.components.{{.*}}flux{{.*}}, ptr null, ptr null, ptr null)
// SHORT-LABEL: define {{.*}} @edges(
// SHORT:         call void @okl_op2_par_loop_v8({{.*}}, ptr null, i32 0, i32 1, ptr {{.*}}@okl.components.{{.*}}flux{{.*}}, ptr null, ptr null, ptr null)
// REMARK: lanes.cpp:[[#@LINE+2]]:3: remark: op_par_loop runs 4 elements at a time
extern "C" void edges(op_set set, op_map map, op_dat x, op_dat y) {
  op_par_loop(flux, "flux", set, op_arg_dat(x, 0, map, 4, "double", OP_READ),
              op_arg_dat(x, 1, map, 4, "double", OP_READ), op_arg_dat(y, 1, map, 2, "double", OP_INC));
}

static void copy(double const *a, double *b) { b[0] = a[0], b[1] = a[1], b[2] = a[2]; }
static void shared(double const *a, double *b) { b[0] = fmin(b[0], a[0] / a[1] + a[2]); }
static void told(double const *a, double *b) { printf("%g\n", *b = *a / 3); }
static void counted(double const *a, int *n) { *n = *a / 3 > 1 ? *n + 1 : 0; }

static int calls;
static void calling(double const *a, double *b) { __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED), *b = sqrt(*a / 3) / *a; }

extern "C" void others(op_set set, op_map map, op_dat x, op_dat y, int *n) {
  // REMARK: lanes.cpp:[[#@LINE+1]]:3: remark: op_par_loop runs one element at a time: it computes too little for what it moves, unless its data are stored component by component
  op_par_loop(copy, "copy", set, op_arg_dat(x, -1, OP_ID, 3, "double", OP_READ),
              op_arg_dat(y, -1, OP_ID, 3, "double", OP_WRITE));
  // REMARK: lanes.cpp:[[#@LINE+1]]:3: remark: op_par_loop runs one element at a time: it reads and writes through a map, where elements may meet
  op_par_loop(shared, "shared", set, op_arg_dat(x, -1, OP_ID, 3, "double", OP_READ),
              op_arg_dat(y, 0, map, 1, "double", OP_RW));
  // REMARK: lanes.cpp:[[#@LINE+2]]:3: remark: op_par_loop runs one element at a time: the kernel calls printf
  // REMARK: lanes.cpp:[[#@LINE+1]]:3: remark: op_par_loop runs on one thread: the kernel calls printf
  op_par_loop(told, "told", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(y, -1, OP_ID, 1, "double", OP_WRITE));
  // REMARK: lanes.cpp:[[#@LINE+2]]:3: remark: op_par_loop runs one element at a time: it does more than add to what it shall increment
  // REMARK: lanes.cpp:[[#@LINE+1]]:3: remark: op_par_loop runs on one thread: the kernel does to arg1 what its access does not say
  op_par_loop(counted, "counted", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_gbl(n, 1, "int", OP_INC));
  // REMARK: lanes.cpp:[[#@LINE+2]]:3: remark: op_par_loop runs one element at a time: the kernel has an instruction 'atomicrmw'
  // REMARK: lanes.cpp:[[#@LINE+1]]:3: remark: op_par_loop runs on one thread: the kernel accesses memory that others see change
  op_par_loop(calling, "calling", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(y, -1, OP_ID, 1, "double", OP_WRITE));
}

// As in a header: other files have them too, so that LLVM keeps no word on whether all of them throw.
inline double larger(double a, double b) { return a > b ? a : b; }
inline void in_header(double const *a, double *b) { *b = larger(*a / 3, *b) + *a; }
// More than LLVM writes out by itself, turns that depend on others, and a loop that may end early.
static void turns(double const *a, double *b) {
  double sum[6] = {0};
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      for (int k = 0; k <= j; k++)
        sum[i] += a[i] * a[j] / (1 + a[k] * a[k]);
  for (int i = 0; i < 6 && sum[i] < 10; i++)
    b[i] += sum[i];
}
static void as_many(double const *a, int const *n, double *b) {
  for (int k = 0; k < *n; k++)
    *b += *a / (k + *b);
}

extern "C" void loops(op_set set, op_dat x, op_dat y, op_dat z, int *n) {
  // REMARK: lanes.cpp:[[#@LINE+1]]:3: remark: op_par_loop runs 4 elements at a time
  op_par_loop(in_header, "in_header", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(y, -1, OP_ID, 1, "double", OP_RW));
  // REMARK: lanes.cpp:[[#@LINE+1]]:3: remark: op_par_loop runs 4 elements at a time
  op_par_loop(turns, "turns", set, op_arg_dat(z, -1, OP_ID, 6, "double", OP_READ),
              op_arg_dat(z, -1, OP_ID, 6, "double", OP_INC));
  // REMARK: lanes.cpp:[[#@LINE+1]]:3: remark: op_par_loop runs one element at a time: the kernel has a loop whose turns are not constant, or too many
  op_par_loop(as_many, "as_many", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_gbl(n, 1, "int", OP_READ), op_arg_dat(y, -1, OP_ID, 1, "double", OP_RW));
}

// CHECK-LABEL: define internal void @okl.lanes.{{.*}}flux
// The same column of the same map is looked up once for each element: 2 of 2 columns.
// CHECK-COUNT-8: load i32
// CHECK-NOT:     load i32
// CHECK:         load <4 x double>, ptr {{.*}}, align 8
// CHECK:         shufflevector <4 x double>
// CHECK:         fdiv <4 x double>
// CHECK:         call <4 x double> @llvm.sqrt.v4f64
// CHECK:         select <4 x i1>
// CHECK-COUNT-4: fadd <2 x double>
// CHECK:         br i1
// A square root of a negative number sets errno.
// CHECK:         call {{.*}} @sqrt{{f?}}({{.*}}-1.0
