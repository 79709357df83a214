// Loops are left for the program to compile once more: their code as bitcode, where all is that it reaches, and which values
// it reads that nobody changes meanwhile; static ones as well. A loop that cannot be left is told of. Without the option
// nothing is left. A program does not become larger by more than a part of its own code.
//
// RUN: clang++-22 -std=c++11 -O3 -g -I%op2-include -fpass-plugin=%plugin -mllvm -okl-jit -Rpass=okl -Rpass-missed=okl -S -emit-llvm %s -o %t.ll 2> %t.remarks
// RUN: FileCheck %s < %t.ll
// RUN: FileCheck --check-prefix=REMARK %s < %t.remarks
// RUN: clang++-22 -std=c++11 -O3 -I%op2-include -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck --check-prefix=WITHOUT --implicit-check-not=okl.jit %s
// RUN: for jit in "" "-mllvm -okl-jit"; do clang++-22 -std=c++17 -O3 -I%op2-include -fpass-plugin=%plugin $jit -c %S/../../../benchmarks/programs/airfoil/airfoil.cpp -o %t.o && size %t.o | tail -n 1 || exit 1; done > %t.sizes && awk '{ all = $1 + $2 } NR == 1 { text = $1; before = all } END { print all - before, text; exit !(NR == 2 && all > before && all - before < 0.75 * text) }' %t.sizes
#include "op_seq.h"

#include <cmath>
#include <stdexcept>

double scale;
static double hidden[3];
thread_local double own = 1;

void change(double value) { hidden[1] = value; }

static void scaled(double const *x, double *y) { y[0] = scale * x[0] + hidden[1] * exp(x[0]); }
static void thrown(double const *x, double *y) {
  if (x[0] < 0)
    throw std::runtime_error("negative");
  y[0] = x[0];
}
static void of_thread(double const *x, double *y) { y[0] = own * x[0]; }

// CHECK-DAG: @okl.jit.name = {{.*}}c"scaled({{.*}})\00"
// CHECK-DAG: @okl.jit.bitcode = private unnamed_addr constant [{{[0-9]+}} x i8] c"okl codes 1\0A\01{{.*}}(\B5/\FD
// CHECK-DAG: @okl.jit.addresses = private constant {{.*}}ptr @exp{{.*}}ptr @scale{{.*}}ptr @_ZL6hidden
// CHECK-DAG: @okl.jit.values = private constant {{.*}}i64 0, i64 8, ptr @scale {{.*}}i64 0, i64 8, ptr @_ZL6hidden
// CHECK-DAG: @okl.jit.code = internal global {{.*}}, ptr null, i64 0, ptr null }
// CHECK-LABEL: define {{.*}} @loops(
// CHECK:         call void @okl_op2_par_loop_v8({{.*}}scaled{{.*}}, ptr null, ptr nonnull @okl.jit.code)
// CHECK:         call void @okl_op2_par_loop_v8({{.*}}thrown{{.*}}, ptr null, ptr null)
// CHECK:         call void @okl_op2_par_loop_v8({{.*}}of_thread{{.*}}, ptr null, ptr null)
// WITHOUT-LABEL: define {{.*}} @loops(
// REMARK-DAG: jit.cpp:[[# @LINE + 4]]:3: remark: loop may be compiled once more at run time
// REMARK-DAG: jit.cpp:[[# @LINE + 5]]:3: remark: loop is not compiled once more at run time: the kernel calls __cxa_allocate_exception
// REMARK-DAG: jit.cpp:[[# @LINE + 6]]:3: remark: loop is not compiled once more at run time: the kernel has variables of its thread
extern "C" void loops(op_set set, op_dat x, op_dat y) {
  op_par_loop(scaled, "scaled", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(y, -1, OP_ID, 1, "double", OP_WRITE));
  op_par_loop(thrown, "thrown", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(y, -1, OP_ID, 1, "double", OP_WRITE));
  op_par_loop(of_thread, "of_thread", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(y, -1, OP_ID, 1, "double", OP_WRITE));
}
