// What LLVM is told of loops that are to be written out: what clang tells it of those with a pragma.
// RUN: clang++-22 -std=c++17 -O2 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll && opt-22 -load-pass-plugin=%plugin -passes='okl-lower<cpu>' -S %t.ll -o - | FileCheck %s
#include "okl.h"

#define UNROLL __attribute__((annotate("okl.unroll")))
#define UNROLL_BY(...) __attribute__((annotate("okl.unroll", __VA_ARGS__)))

// A nest with a barrier in it is two loops then, both of which are written out.
// CHECK-LABEL: define internal void @k.omp_outlined(
// CHECK: br label %{{.*}}, !llvm.loop ![[# BLOCKS:]]
// CHECK: br label %{{.*}}, !llvm.loop ![[# FIRST:]]
// CHECK: br label %{{.*}}, !llvm.loop ![[# SECOND:]]
// CHECK: br label %{{.*}}, !llvm.loop ![[# ALL:]]
// CHECK-NOT: !llvm.loop
// CHECK: }
// CHECK: ![[# BLOCKS]] = distinct !{![[# BLOCKS]], ![[# PROGRESS:]]}
// CHECK: ![[# FIRST]] = distinct !{![[# FIRST]], ![[# PROGRESS]], ![[# COUNT:]], ![[#]], ![[#]]}
// CHECK: ![[# COUNT]] = !{!"llvm.loop.unroll.count", i32 4}
// CHECK: ![[# SECOND]] = distinct !{![[# SECOND]], ![[# PROGRESS]], ![[# COUNT]], ![[#]], ![[#]]}
// CHECK: ![[# ALL]] = distinct !{![[# ALL]], ![[# PROGRESS]], ![[# ENABLE:]]}
// CHECK: ![[# ENABLE]] = !{!"llvm.loop.unroll.enable"}
KERNEL void k(int n, int *a) {
  for (OUTER int o = 0; o < n; o++) {
    SHARED int s[8];
    for (INNER UNROLL_BY(4) int i = 0; i < 8; i++) {
      s[i] = 0;
      for (UNROLL int k = 0; k < n; k++)
        s[i] += a[k];
      BARRIER;
      a[o * 8 + i] = s[7 - i];
    }
  }
}
