// What is known of a loop goes from the stage that lowers to the one that adds lanes in a record at its call. A loop
// without one, or with one of another version, runs one element at a time.
//
// RUN: clang++-22 -std=c++11 -O0 -Xclang -disable-O0-optnone -march=haswell -gline-tables-only -I%op2-include -fpass-plugin=%plugin -S -emit-llvm %s -o %t.ll
// RUN: FileCheck %s < %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='default<O3>' -pass-remarks=okl -pass-remarks-missed=okl -disable-output %t.ll 2>&1 | FileCheck --check-prefix=HAS %s
// RUN: sed 's/"okl-loop"=/"something-else"=/' %t.ll > %t.lost.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='default<O3>' -pass-remarks=okl -pass-remarks-missed=okl -S %t.lost.ll 2>&1 | FileCheck --check-prefix=LOST %s
// RUN: sed 's/"okl-loop"="3;/"okl-loop"="0;/' %t.ll > %t.old.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='default<O3>' -pass-remarks=okl -pass-remarks-missed=okl -disable-output %t.old.ll 2>&1 | FileCheck --check-prefix=OLD %s
// LLVM may copy the call: the loop is what all copies say of it. Where one has lost its record, or has another one, the
// loop runs one element at a time.
//
// RUN: sed '/call void @okl_op2_par_loop_v8/p' %t.ll > %t.twice.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='default<O3>' -pass-remarks=okl -pass-remarks-missed=okl -S %t.twice.ll 2>&1 | FileCheck --check-prefix=TWICE %s
// RUN: sed -E '/call void @okl_op2_par_loop_v8/{p;s/\) #[0-9]+/)/}' %t.ll > %t.last.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='default<O3>' -pass-remarks=okl -pass-remarks-missed=okl -S %t.last.ll 2>&1 | FileCheck --check-prefix=DIFFER %s
// RUN: sed -E '/call void @okl_op2_par_loop_v8/{h;s/\) #[0-9]+/)/;p;g}' %t.ll > %t.first.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='default<O3>' -pass-remarks=okl -pass-remarks-missed=okl -S %t.first.ll 2>&1 | FileCheck --check-prefix=DIFFER %s
// RUN: sed -E '/call void @okl_op2_par_loop_v8/{h;s/\) #[0-9]+/) "okl-loop"="3; op_par_loop; "/;p;g}' %t.ll > %t.other.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='default<O3>' -pass-remarks=okl -pass-remarks-missed=okl -S %t.other.ll 2>&1 | FileCheck --check-prefix=DIFFER %s
#include "op_seq.h"

#include <cmath>

static void flux(double const *a, double *out, double *most) {
  double f = sqrt(a[0] * a[1] / a[2]) + sqrt(a[1]);
  out[0] += f;
  out[1] -= f * a[2];
  *most = fmax(*most, f);
}

// CHECK:      "okl-loop"="3; op_par_loop; either either element; may stated read argument:0 3xf64 column:0 may stated read map:0 - own;
// CHECK-SAME: may found inc argument:1 2xf64 column:1 may stated read map:0 - own; may stated max argument:2 1xf64 whole"
// TWICE-COUNT-2: op_par_loop runs 4 elements at a time
// TWICE-COUNT-2: call void @okl_op2_par_loop_v8({{.*}}@okl.lanes.
// DIFFER-COUNT-2: loop runs one element at a time: copies of its call have lost its record, or have another one
// DIFFER-COUNT-2: call void @okl_op2_par_loop_v8({{.*}}, ptr null, i32 0, i32 0, ptr {{.*}}@okl.components.{{.*}}, ptr null, ptr null, ptr null)
// HAS:      record.cpp:[[# @LINE + 7]]:3: op_par_loop runs 4 elements at a time
// LOST:      record.cpp:[[# @LINE + 6]]:3: loop runs one element at a time: its record is lost
// LOST-NEXT: record.cpp:[[# @LINE + 5]]:3: loop runs on one thread: its record is lost
// LOST:     call void @okl_op2_par_loop_v8({{.*}}, ptr null, i32 0, i32 0, ptr {{.*}}@okl.components.{{.*}}, ptr null, ptr null, ptr null)
// OLD:      record.cpp:[[# @LINE + 3]]:3: loop runs one element at a time: another version of okl wrote its record
// OLD-NEXT: record.cpp:[[# @LINE + 2]]:3: loop runs on one thread: another version of okl wrote its record
void edges(op_set set, op_map map, op_dat x, op_dat y, double *most) {
  op_par_loop(flux, "flux", set, op_arg_dat(x, 0, map, 3, "double", OP_READ),
              op_arg_dat(y, 1, map, 2, "double", OP_INC), op_arg_gbl(most, 1, "double", OP_MAX));
}
