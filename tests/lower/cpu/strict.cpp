// Where a loop is an error, none is emitted: nothing is said of what would have been done to the others.
//
// RUN: not clang++-22 -std=c++11 -O2 -march=haswell -gline-tables-only -I%op2-include -fpass-plugin=%plugin -mllvm -okl-strict -Rpass=okl -Rpass-missed=okl -S -o %t.s %s 2>&1 | FileCheck --implicit-check-not="at a time" %s
#include "op_seq.h"

static void twice(double *x) { *x *= 2; }

void loops(void (*kernel)(double *), op_set set, op_dat x) {
  op_par_loop(twice, "twice", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_RW));
  // CHECK: strict.cpp:[[# @LINE + 1]]:3: error: op_par_loop runs element by element as it is written: the kernel is known only when the program runs
  op_par_loop(kernel, "kernel", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_RW));
}
