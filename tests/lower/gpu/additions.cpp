// Of the code for each kind of device the run time is told for which numbers it has instructions that add (2: `float`, 4:
// `double`), and of each kernel what it adds (its `does`): where something is missing, no atomic operations are taken by
// default. That is what LLVM makes of them: else there is a loop that compares and exchanges.
//
// RUN: export GPUS='gfx90a gfx942 gfx1100 gfx900 gfx906 gfx908 gfx950 gfx1010 gfx1030 gfx1101 gfx1102 gfx1200 gfx1201'; \
// RUN:   clang++-22 -std=c++17 -O2 -I%op2-include -fpass-plugin=%plugin -mllvm -okl-target=$(echo $GPUS | sed 's/[^ ]*/hip:&/g;s/ /,/g'),cuda,spirv,cpu -S -emit-llvm %s -o %t.ll && clang-22 -c %t.ll -o %t.o || exit 1; \
// RUN:   for gpu in $GPUS; do llvm-objcopy-22 --dump-section=.okl.device.$gpu=%t.code %t.o %t.rest && llvm-objdump-22 -d --mcpu=$gpu %t.code > %t.$gpu || exit 1; \
// RUN:     adds=0; if grep -q global_atomic_add_f32 %t.$gpu; then adds=2; fi; if grep -q global_atomic_add_f64 %t.$gpu; then adds=$((adds + 4)); fi; \
// RUN:     case $adds in 6) wanted=no;; *) wanted=yes;; esac; if grep -q atomic_cmpswap %t.$gpu; then found=yes; else found=no; fi; test $found = $wanted || exit 1; \
// RUN:     echo $adds; done > %t.found
// RUN: sed -n '/^@okl.device.images = /{s/{ i64, ptr, ptr, i64, i64 } {/\n/g;p}' %t.ll | sed -n 's/.*, i64 \([0-9]*\) }.*/\1/p' > %t.told && (cat %t.found; echo 6; echo 0) | diff %t.told - && wc -l < %t.told | FileCheck --check-prefix=COUNT %s
// RUN: FileCheck %s < %t.ll
// COUNT: 15
//
// CHECK-DAG: @[[ATOMICS:.*]] = private unnamed_addr constant [14 x i8] c"both, atomics\00"
// CHECK-DAG: @[[COLOURS:.*]] = private unnamed_addr constant [14 x i8] c"both, colours\00"
// CHECK-DAG: @[[BLOCKS:.*]] = private unnamed_addr constant [13 x i8] c"both, blocks\00"
// CHECK-DAG: { ptr @[[ATOMICS]], {{.*}}, i64 256, i64 0, i64 6, ptr null, i64 0, ptr null, i64 0 }
// CHECK-DAG: { ptr @[[COLOURS]], {{.*}}, i64 256, i64 0, i64 0, ptr null, i64 0, ptr null, i64 0 }
// CHECK-DAG: { ptr @[[BLOCKS]], {{.*}}, i64 256, i64 0, i64 0, ptr null, i64 0, ptr null, i64 0 }
#include "op_seq.h"

static void both(double const *x, double *sum, float *single) { *sum += *x, *single += (float)*x; }
void edges(op_set set, op_map map, op_dat x, op_dat sum, op_dat single) {
  op_par_loop(both, "both", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(sum, 0, map, 1, "double", OP_INC), op_arg_dat(single, 1, map, 1, "float", OP_INC));
}
