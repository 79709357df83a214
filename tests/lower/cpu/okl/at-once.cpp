// LLVM runs several work items at once: it is told that they do not depend on each other by what they have in common, and not by
// variables of one iteration; conditions around all of an iteration end the loop.
// RUN: clang++-22 -std=c++17 -O3 -mavx2 -fno-math-errno -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck --check-prefix=FAST %s
// RUN: clang++-22 -std=c++17 -O0 -Xclang -disable-O0-optnone -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck %s
#include "okl.h"

// FAST-LABEL: define internal void @add.omp_outlined(
// FAST-NOT:   masked
// FAST:       load <8 x float>
// CHECK-LABEL: define internal void @add.omp_outlined(
// Once for where the condition holds for all of a block, and once for where it is asked.
// CHECK-COUNT-3: !llvm.access.group ![[# GROUP:]]
// CHECK-COUNT-3: !llvm.access.group
// CHECK-NOT:     !llvm.access.group
// CHECK:         ret void
KERNEL void add(int n, const float *a, const float *b, float *ab) {
  for (OUTER int o = 0; o < n; o += 16)
    for (INNER int i = o; i < o + 16; ++i)
      if (i < n)
        ab[i] = a[i] + b[i];
}

// FAST-LABEL: define internal void @whole.omp_outlined(
// FAST:       load <8 x float>
KERNEL void whole(int n, const float *a, const float *b, float *ab) {
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 16; ++i)
      ab[o * 16 + i] = a[o * 16 + i] + b[o * 16 + i];
}

// FAST-LABEL: define internal void @stencil.omp_outlined(
// FAST:       load <8 x float>
KERNEL void stencil(int n, const float *a, float *b) {
  for (OUTER int o = 0; o < n; ++o) {
    SHARED float s[66];
    for (INNER int i = 0; i < 66; ++i)
      s[i] = a[o * 64 + i];
    for (INNER int i = 0; i < 64; ++i)
      b[o * 64 + i] = s[i] + s[i + 1] + s[i + 2];
  }
}

// FAST-LABEL: define internal void @reduce.omp_outlined(
// FAST:       load <8 x float>
KERNEL void reduce(int n, const float *a, float *sums) {
  for (OUTER int o = 0; o < n; ++o) {
    SHARED float s[256];
    for (INNER int t = 0; t < 256; ++t) {
      s[t] = a[o * 256 + t];
      BARRIER;
      for (int stride = 128; stride > 0; stride /= 2) {
        if (t < stride)
          s[t] += s[t + stride];
        BARRIER;
      }
      if (t == 0)
        sums[o] = s[0];
    }
  }
}

// An array of one iteration is not in the group, nor is what a pointer leads to that may be one.
// CHECK-LABEL: define internal void @own.omp_outlined(
// CHECK-COUNT-2: !llvm.access.group
// CHECK-NOT:     !llvm.access.group
// CHECK:         ret void
KERNEL void own(int n, const int *a, int *b) {
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 64; ++i) {
      int few[4] = {1, 2, 3, 4};
      int *one = few + 1;
      few[a[i] & 3] = i;
      one[i & 1] += i;
      b[i] = few[i & 3];
    }
}

// What is atomic is in none.
// CHECK-LABEL: define internal void @histogram.omp_outlined(
// CHECK-NOT:     !llvm.access.group
// CHECK:         ret void
KERNEL void histogram(int n, const int *a, int *counts) {
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 64; ++i)
      ATOMIC(counts[a[i]] += 1);
}
// CHECK: !{!"llvm.loop.parallel_accesses", ![[# GROUP]]}
