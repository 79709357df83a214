// A loop over a set gets two more functions for data that lie component by component. In the one for lanes, a component
// of several elements is one vector in memory; where a map leads to them it is collected, which no transposition follows.
// It looks whether data lie as it expects: all component by component, or, in a function before that one, as the program
// says of each. What they leave runs in a function that hands the kernel copies, and adds what it adds to zero.
//
// RUN: clang++-22 -std=c++11 -O3 -march=haswell -fno-slp-vectorize -I%op2-include -fpass-plugin=%plugin -S -emit-llvm %s -o %t.ll
// RUN: FileCheck %s < %t.ll
// RUN: clang++-22 -std=c++11 -O3 -march=haswell -g -I%op2-include -fpass-plugin=%plugin -Rpass-missed=okl -c %s -o %t.o 2>&1 | grep remark: | FileCheck --check-prefix=REMARK --implicit-check-not=remark: %s
#include "op_seq.h"

static void direct(double const *a, double *b) {
  for (int k = 0; k < 3; k++)
    b[k] = a[k] / (b[k] + 1);
}
static void copy(double const *a, double *b) { b[0] = a[1], b[1] = a[0]; }
static void mixed(double const *a, double const *b, double *c) { c[0] += a[0] / b[1], c[1] += a[1] / b[0]; }
static void unknown(double const *a, double *b) { b[0] = 2, b[1] += a[0]; }
static void rows(double **a) { a[0][1] = a[1][0]; }
static void large(double const *a, double *b) { b[299] = a[300]; }
static void first(double *a) { a[0] = 1; }
void outside(double *x);

extern "C" void loops(op_set set, op_map map, op_dat x, op_dat y, op_dat z) {
  op_par_loop(direct, "direct", set, op_arg_dat(x, -1, OP_ID, 3, "double", OP_READ),
              op_arg_dat(y, -1, OP_ID, 3, "double", OP_RW));
  // REMARK-DAG: components.cpp:[[#@LINE+1]]:3: remark: op_par_loop runs one element at a time: it computes too little for what it moves, unless its data are stored component by component
  op_par_loop(copy, "copy", set, op_arg_dat(x, -1, OP_ID, 2, "double", OP_READ),
              op_arg_dat(y, -1, OP_ID, 2, "double", OP_WRITE));
  op_par_loop(mixed, "mixed", set, op_arg_dat(x, -1, OP_ID, 2, "double", OP_READ),
              op_arg_dat(y, -1, OP_ID, 2, "double:soa", OP_READ), op_arg_dat(z, 1, map, 2, "double", OP_INC));
}
// CHECK-LABEL: define dso_local void @loops(
// CHECK: call void @okl_op2_par_loop_v8({{.*}}, ptr nonnull @okl.components._ZL6directPKdPd, ptr nonnull @okl.component_lanes._ZL6directPKdPd, ptr null, ptr null)
// CHECK: call void @okl_op2_par_loop_v8({{.*}}, ptr null, i32 4, i32 1, ptr nonnull @okl.components._ZL4copyPKdPd, ptr nonnull @okl.component_lanes._ZL4copyPKdPd, ptr null, ptr null)
// CHECK: call void @okl_op2_par_loop_v8({{.*}}, ptr nonnull @okl.component_lanes._ZL5mixedPKdS0_Pd.[[SAID:[0-9]+]], ptr null, ptr null)

// What the kernel assigns through OP_INC, updates of what may be one element, and a kernel that is not here.
extern "C" void others(op_set set, op_map map, op_dat x, op_dat y, int dim) {
  // REMARK-DAG: components.cpp:[[#@LINE+4]]:3: remark: op_par_loop needs its data element by element: what the kernel does to arg1 cannot be done to a copy
  // REMARK-DAG: components.cpp:[[#@LINE+3]]:3: remark: op_par_loop: arg1 is OP_INC, but the kernel assigns to it
  // REMARK-DAG: components.cpp:[[#@LINE+2]]:3: remark: op_par_loop runs one element at a time: it does more than add
  // REMARK-DAG: components.cpp:[[#@LINE+1]]:3: remark: op_par_loop runs on one thread: the kernel does to arg1
  op_par_loop(unknown, "unknown", set, op_arg_dat(x, -1, OP_ID, 2, "double", OP_READ),
              op_arg_dat(y, 0, map, 2, "double", OP_INC));
  // REMARK-DAG: components.cpp:[[#@LINE+2]]:3: remark: op_par_loop needs its data element by element: what the kernel does to arg0 cannot be done to a copy
  // REMARK-DAG: components.cpp:[[#@LINE+1]]:3: remark: op_par_loop runs one element at a time: it reads and writes through a map
  op_par_loop(rows, "rows", set, op_arg_dat(y, -2, map, 2, "double", OP_RW));
  // REMARK-DAG: components.cpp:[[#@LINE+3]]:3: remark: op_par_loop needs its data element by element: its arguments have 700 components
  // REMARK-DAG: components.cpp:[[#@LINE+2]]:3: remark: op_par_loop: arg1 is OP_WRITE, but the kernel leaves
  // REMARK-DAG: components.cpp:[[#@LINE+1]]:3: remark: op_par_loop runs one element at a time: it computes
  op_par_loop(large, "large", set, op_arg_dat(x, -1, OP_ID, 350, "double", OP_READ),
              op_arg_dat(y, -1, OP_ID, 350, "double", OP_WRITE));
  // REMARK-DAG: components.cpp:[[#@LINE+2]]:3: remark: op_par_loop needs its data element by element: type or dimension of arg0 is no literal
  // REMARK-DAG: components.cpp:[[#@LINE+1]]:3: remark: op_par_loop runs one element at a time
  op_par_loop(first, "dim", set, op_arg_dat(x, 0, map, dim, "double", OP_WRITE));
  // REMARK-DAG: components.cpp:[[#@LINE+1]]:3: remark: op_par_loop runs element by element as it is written
  op_par_loop(outside, "outside", set, op_arg_dat(x, -1, OP_ID, 2, "double", OP_RW));
}
// CHECK-LABEL: define dso_local void @others(
// CHECK-COUNT-4: call void @okl_op2_par_loop_v8({{.*}}, ptr null, ptr null, ptr null, ptr null)
// CHECK: call void @okl_op2_par_loop_v8({{.*}}@_ZN7okl_op25range{{.*}}, ptr noundef null, ptr noundef null, ptr noundef null, ptr noundef null)

// The file does not look at op_dat->data, and no longer says that it may.
// CHECK-NOT: call void @okl_op2_looks_at_data

// CHECK-LABEL: define internal void @okl.components._ZL5mixedPKdS0_Pd(
// CHECK-NOT:     call {{.*}}@_Z
// CHECK-COUNT-2: fdiv double
// CHECK:         fadd double
// CHECK:         ret void

// CHECK-LABEL: define internal void @okl.component_lanes._ZL6directPKdPd(
// CHECK:         icmp eq i64 %{{.*}}, 8
// CHECK:         icmp eq i64 %{{.*}}, 8
// CHECK-NOT:     {{shufflevector|insertelement|extractelement}}
// CHECK-COUNT-6: load <4 x double>
// CHECK-NOT:     {{load|shufflevector|insertelement|extractelement}}
// CHECK-COUNT-3: store <4 x double>
// CHECK-NOT:     {{store|shufflevector|insertelement|extractelement}}
// CHECK:         call void @okl.components._ZL6directPKdPd(

// CHECK-LABEL: define internal void @okl.component_lanes._ZL4copyPKdPd(
// CHECK-COUNT-2: load <4 x double>
// CHECK-COUNT-2: store <4 x double>

// CHECK-LABEL: define internal void @okl.component_lanes._ZL5mixedPKdS0_Pd(
// CHECK-COUNT-3: icmp eq i64 %{{.*}}, 8
// CHECK:         call void @okl.components._ZL5mixedPKdS0_Pd(
// CHECK:       define internal void @okl.component_lanes._ZL5mixedPKdS0_Pd.[[SAID]](
// CHECK-DAG:     icmp eq i64 %{{.*}}, 8
// CHECK-DAG:     icmp eq i64 %{{.*}}, 16
// CHECK-DAG:     icmp eq i64 %{{.*}}, 16
// CHECK:         call void @okl.component_lanes._ZL5mixedPKdS0_Pd(
