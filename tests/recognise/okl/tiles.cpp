// What becomes of loops with @tile: outer loops, then inner ones; and how many iterations loops have whose ends move together.
// RUN: for level in -O0 "-O2 -g"; do clang++-22 -std=c++17 $level -gline-tables-only -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll && opt-22 -load-pass-plugin=%plugin -passes='print<okl-loops>' -disable-output %t.ll 2>&1 | FileCheck %s || exit 1; done
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-plan>' -disable-output %t.ll 2>&1 | FileCheck --check-prefix=PLAN %s
// RUN: opt-22 -load-pass-plugin=%plugin -passes='okl-lower,verify' -S %t.ll | FileCheck --check-prefix=LEFT --implicit-check-not='call void @llvm.var' --implicit-check-not='call void @__okl' %s
#include "../../lower/cpu/okl/okl.h"

// LEFT: define {{.*}} @one
// CHECK:      @outer loop in one at {{.*}}tiles.cpp:[[# @LINE + 8]]
// CHECK-NEXT:   u64 loop of an unknown length, axis 0
// CHECK-NEXT:   body one
// CHECK-NEXT:   work items
// CHECK-NEXT:   step 0: u64 loop 0 to 15, axis 0, each work item; barrier, step 1
// CHECK-NEXT:   step 1: each work item; join
// PLAN: @outer loop at {{.*}}tiles.cpp:[[# @LINE + 2]]: on the processor
KERNEL void one(int n, int *a) {
  for (TILE(16, "outer", "inner", 1) int i = 0; i < n; i++)
    a[i] = 0;
}

// CHECK:      @outer loop in nested at {{.*}}tiles.cpp:[[# @LINE + 5]]
// CHECK-NEXT:   u64 loop of an unknown length, axis 1 x u64 loop of an unknown length, axis 0
// CHECK:        step 0: u64 loop 0 to 15, axis 1 x u64 loop 0 to 7, axis 0, each work item; join
KERNEL void nested(int n, int *a) {
  constexpr int size = 8;
  for (TILE(16, "outer", "inner", 1) NOBARRIER MAX_INNER_DIMS(8, 16) int y = 0; y < n; y++)
    for (TILE(0, "outer", "inner", 1) int x = SIZED(size, 0); x < n; x++)
      a[y * n + x] = 0;
}

// Axes can be named, and the number of items can be unknown.
// CHECK:      @outer loop in axes
// CHECK-NEXT:   u64 loop of an unknown length, axis 0 x u64 loop of an unknown length, axis 2
// CHECK:        step 0: u64 loop 0 to 3, axis 2 x u64 loop of an unknown length, axis 1, each work item; barrier, step 1
KERNEL void axes(int n, int *a) {
  for (__attribute__((annotate("okl.tile", 4, "outer", 0, "inner", 2, 1))) int y = 0; y < n; y++)
    for (__attribute__((annotate("okl.tile", 0, "outer", 2, "inner", 1, 1))) int x = SIZED(n, 0); x < n; x++)
      a[y * n + x] = 0;
}

// In the same loop, tiles of work items alone: here the number of blocks is known.
// CHECK:      @outer loop in items
// CHECK-NEXT:   i32 loop of an unknown length, axis 0
// CHECK:        step 0: u64 loop 0 to 2, axis 1 x u64 loop 0 to 7, axis 0, each work item; barrier, step 1
// CHECK-NEXT:   step 1: u64 loop 0 to 3, axis 1 x u64 loop 0 to 3, axis 0, each work item; barrier, step 2
KERNEL void items(int n, int *a) {
  for (OUTER int o = 0; o < n; o++) {
    for (TILE(8, "inner", "inner", 1) int x = 20; x > 0; x--)
      a[x] = 0;
    for (TILE(4, "inner", "inner", 1) int x = o + 3; x < o + 19; x++)
      a[x] = 0;
  }
}

// CHECK:      @outer loop in together
// CHECK:        step 0: i32 loop 0 to 15, axis 0, each work item; barrier, step 1
// CHECK-NEXT:   step 1: i32 loop 0 to 3, axis 0, each work item; barrier, step 2
// CHECK-NEXT:   step 2: i32 loop 0 to 15, axis 0, each work item; barrier, step 3
// CHECK-NEXT:   step 3: i64 loop 0 to 2, axis 0, each work item; barrier, step 4
// CHECK-NEXT:   step 4: u32 loop 0 to 3, axis 0, each work item; barrier, step 5
// CHECK-NEXT:   step 5: u64 loop 0 to 1, axis 0, each work item; barrier, step 6
// CHECK-NEXT:   step 6: i64 loop 0 to 7, axis 0, each work item; barrier, step 7
KERNEL void together(int n, unsigned m, int *a) {
  for (OUTER int o = 0; o < n; o++) {
    for (INNER int i = o; i < o + 16; i++)
      a[i] = 0;
    for (INNER int i = o * 16; i < (o + 1) * 16; i += 4)
      a[i] = 0;
    for (INNER int i = o; o + 15 >= i; i += 1)
      a[i] = 0;
    for (INNER long i = o + 3; i > o; i--)
      a[i] = 0;
    // There are none where the end is behind the largest number.
    for (INNER unsigned i = m; i < m + 16; i += 4)
      a[i] = 0;
    for (INNER unsigned long i = m * 2ul + 4; i >= m * 2ul + 3; i--)
      a[i] = 0;
    for (INNER long i = m; i < m + 8l; i++)
      a[i] = 0;
  }
}

// These may be others: the iterator may pass the end, or what is made wider may have become smaller before; what the ends
// are computed from changes, or is not known to stay the same.
// CHECK:      @outer loop in unknown
// CHECK:        step 0: u32 loop of an unknown length, axis 0, each work item; barrier, step 1
// CHECK-NEXT:   step 1: u64 loop of an unknown length, axis 0, each work item; barrier, step 2
// CHECK-NEXT:   step 2: i16 loop of an unknown length, axis 0, each work item; barrier, step 3
// CHECK-NEXT:   step 3: i32 loop of an unknown length, axis 0, each work item; barrier, step 4
// CHECK-NEXT:   step 4: i32 loop of an unknown length, axis 0, each work item; barrier, step 5
// CHECK-NEXT:   step 5: u32 loop of an unknown length, axis 0, each work item; barrier, step 6
// CHECK-NEXT:   step 6: i32 loop of an unknown length, axis 0, each work item; barrier, step 7
KERNEL void unknown(int n, unsigned m, int *a) {
  for (OUTER int o = 0; o < n; o++) {
    int first = o;
    for (INNER unsigned i = m; i < m + 16; i += 5)
      a[i] = 0;
    for (INNER unsigned long i = m; i < m + 16; i++)
      a[i] = 0;
    for (INNER short i = o + 1; i < o + 16; i++)
      a[i] = 0;
    for (INNER int i = a[0]; i < a[0] + 4; i++)
      a[i] = 0;
    for (INNER int i = first++; i < first + 4; i++)
      a[i] = 0;
    for (INNER unsigned i = m; i < m - 16; i++)
      a[i] = 0;
    for (INNER int i = o; i < n + 16; i++)
      a[i] = 0;
  }
}
