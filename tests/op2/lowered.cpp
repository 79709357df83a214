// A loop over a set becomes a function that calls the kernel for a range of its elements, which LLVM inlines:
// addresses are computed from the maps, without a look at what the arguments are.
//
// RUN: clang++-22 -std=c++11 -O2 -I%op2-include -fpass-plugin=%plugin -S -emit-llvm %s -o %t.ll
// RUN: FileCheck %s < %t.ll && FileCheck --check-prefix=CASES %s < %t.ll
// RUN: clang++-22 -std=c++11 -O2 -g -I%op2-include -fpass-plugin=%plugin -Rpass-missed=okl -c %s -o %t.o 2>&1 | FileCheck --check-prefix=MISSED --implicit-check-not=remark: %s
#include "op_seq.h"

static void flux(double const *a, double const *b, double *out) {
  out[0] += a[0] * b[1];
  out[1] -= b[0];
}
void outside(double *x);
static void twice(double *x) { x[0] *= 2; }
static void half(double *x) { x[0] *= 0.5; }
static void root(double *x) { x[0] = __builtin_sqrt(x[0]); }

// LLVM does not make one call of all, of whatever kernel it then is.
// CASES-LABEL: define dso_local void @cases(
// CASES:         invoke void @okl_op2_par_loop_v8({{.*}} @_ZL5twicePd, {{.*}} @okl.range._ZL5twicePd,
// CASES:         invoke void @okl_op2_par_loop_v8({{.*}} @_ZL4halfPd, {{.*}} @okl.range._ZL4halfPd,
// CASES:         invoke void @okl_op2_par_loop_v8({{.*}} @_ZL4rootPd, {{.*}} @okl.range._ZL4rootPd,
struct Scope {
  ~Scope();
};
extern "C" void cases(int which, op_set set, op_dat x) {
  Scope scope;
  switch (which) {
  case 0:
    // MISSED-DAG: lowered.cpp:[[#@LINE+1]]:5: remark: op_par_loop runs one element at a time: the target's vectors are too short
    op_par_loop(twice, "twice", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_RW));
    break;
  case 1:
    // MISSED-DAG: lowered.cpp:[[#@LINE+1]]:5: remark: op_par_loop runs one element at a time: the target's vectors are too short
    op_par_loop(half, "half", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_RW));
    break;
  case 2:
    // MISSED-DAG: lowered.cpp:[[#@LINE+1]]:5: remark: op_par_loop runs one element at a time: the target's vectors are too short
    op_par_loop(root, "root", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_RW));
    break;
  }
}

// CHECK-LABEL: define dso_local void @edges(
// CHECK:         call void @okl_op2_par_loop_v8(ptr nonnull @.str{{[.0-9]*}}, ptr %{{.*}}, i32 3, ptr nonnull %{{.*}}, ptr nonnull @_ZL4fluxPKdS0_Pd, ptr nonnull @okl.range._ZL4fluxPKdS0_Pd, ptr null, i32 0, i32 1, ptr nonnull @okl.components._ZL4fluxPKdS0_Pd, ptr null, ptr null, ptr null)
extern "C" void edges(op_set set, op_map map, op_dat x, op_dat y) {
  // MISSED-DAG: lowered.cpp:[[#@LINE+1]]:3: remark: op_par_loop runs one element at a time: the target's vectors are too short
  op_par_loop(flux, "flux", set, op_arg_dat(x, 0, map, 2, "double", OP_READ),
              op_arg_dat(x, 1, map, 2, "double", OP_READ),
              op_arg_dat(y, 1, map, 2, "double", OP_INC));
}

// CHECK-LABEL: define internal void @okl.range._ZL4fluxPKdS0_Pd(
// CHECK-NOT:     switch
// CHECK-NOT:     call {{.*}}@_Z
// CHECK:         shl {{.*}}, 4
// CHECK-NOT:     call {{.*}}@_Z
// CHECK:         ret void

extern "C" void declined(op_set set, op_dat x, void (*kernel)(double *), op_arg given, int code) {
  // MISSED-DAG: lowered.cpp:[[#@LINE+1]]:3: remark: op_par_loop runs element by element as it is written: the kernel is not defined in this file
  op_par_loop(outside, "outside", set, op_arg_dat(x, -1, OP_ID, 2, "double", OP_RW));
  // MISSED-DAG: lowered.cpp:[[#@LINE+1]]:3: remark: op_par_loop runs element by element as it is written: the kernel is known only when the program runs
  op_par_loop(kernel, "kernel", set, op_arg_dat(x, -1, OP_ID, 2, "double", OP_RW));
  // MISSED-DAG: lowered.cpp:[[#@LINE+1]]:3: remark: op_par_loop runs element by element as it is written: arg0 is not made by a call in this function
  op_par_loop(outside, "given", set, given);
  // MISSED-DAG: lowered.cpp:[[#@LINE+1]]:3: remark: op_par_loop runs element by element as it is written: arg0: its access is not a literal
  op_par_loop(+[](double *p) { *p = 1; }, "code", set, op_arg_dat(x, -1, OP_ID, 2, "double", code));
}
