// What a kernel is: loops over blocks of work items, and what these do between the places at which they meet.
// RUN: for level in -O0 -O2; do clang++-22 -std=c++17 $level -Xclang -disable-llvm-passes -gline-tables-only -S -emit-llvm %s -o %t.ll && opt-22 -load-pass-plugin=%plugin -passes='print<okl-loops>' -disable-output %t.ll 2>&1 | FileCheck %s || exit 1; done
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-plan>' -disable-output %t.ll 2>&1 | FileCheck --check-prefix=PLAN %s
#include "../../lower/cpu/okl/okl.h"

// A barrier at the end of each nest, and one inside: the variables of blocks and of work items.
// CHECK:      @outer loop in stencil at {{.*}}kernels.cpp:[[# @LINE + 13]]
// CHECK-NEXT:   i32 loop of an unknown length, axis 1 x i32 loop of an unknown length, axis 0
// CHECK-NEXT:   body stencil
// CHECK-NEXT:   work items
// CHECK-NEXT:   a variable shared by the work items of a block ({{.*}}kernels.cpp:[[# @LINE + 11]])
// CHECK-NEXT:   a variable of each work item ({{.*}}kernels.cpp:[[# @LINE + 11]])
// CHECK-NEXT:   step 0: i32 loop 0 to 7, axis 1 x i32 loop 0 to 9, axis 0, each work item; barrier, step 1
// CHECK-NEXT:   step 1: i32 loop 0 to 7, axis 1 x i32 loop 0 to 9, axis 0, each work item; barrier, step 2
// CHECK-NEXT:   step 2: i32 loop 0 to 7, axis 1 x i32 loop 0 to 9, axis 0; barrier, step 3
// CHECK-NEXT:   step 3: each work item; join
// CHECK-NOT:  {{.}}
// PLAN: @outer loop at {{.*}}kernels.cpp:[[# @LINE + 2]]: on the processor
KERNEL void stencil(int n, const float *a, float *b) {
  for (OUTER int y = 0; y < n; y += 8) {
    for (OUTER int x = 0; x < n; x += 10) {
      SHARED float s[8][10];
      EXCLUSIVE float own;
      for (INNER int j = 0; j < 8; ++j)
        for (INNER int i = 0; i < 10; ++i)
          s[j][i] = own = a[(y + j) * n + x + i];
      for (INNER int j = 0; j < 8; ++j)
        for (INNER int i = 0; i < 10; ++i) {
          s[j][i] += own;
          BARRIER;
          b[(y + j) * n + x + i] = own;
        }
    }
  }
}
