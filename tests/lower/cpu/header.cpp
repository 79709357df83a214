// A loop that is not understood is run by what OP2's header writes for it, which has never had a record: it has not lost
// one.
//
// RUN: clang++-22 -std=c++11 -O0 -Xclang -disable-O0-optnone -march=haswell -gline-tables-only -I%op2-include -fpass-plugin=%plugin -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='default<O3>' -pass-remarks=okl -pass-remarks-missed=okl -disable-output %t.ll 2>&1 | FileCheck --implicit-check-not=remark: %s
// RUN: FileCheck --check-prefix=RUNS %s < %t.ll
#include "op_seq.h"

// CHECK: remark: {{.*}}header.cpp:[[# @LINE + 3]]:3: op_par_loop runs element by element as it is written: the kernel is known only when the program runs
// RUNS:  call void @okl_op2_par_loop_v8(
void scale(void (*kernel)(double *), op_set set, op_dat x) {
  op_par_loop(kernel, "scale", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_RW));
}
