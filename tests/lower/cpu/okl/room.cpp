// What work items need only in one nest stays a variable, what they need in several is an array of the size of a block;
// more work items than the program says end it.
// RUN: clang++-22 -std=c++17 -O0 -Xclang -disable-O0-optnone -fpass-plugin=%plugin -S -emit-llvm %s -o %t.ll && FileCheck %s < %t.ll
// RUN: clang++-22 -std=c++17 -O2 -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck --check-prefix=PLAIN %s
// RUN: clang++-22 -std=c++17 -O2 -fopenmp -fpass-plugin=%plugin %s -L%runtime-dir -lokl_cpu -Wl,-rpath,%runtime-dir -o %t && %t 8 && (%t 9; test $? -gt 128)
#include "okl.h"

#include <cstdio>
#include <cstdlib>

// CHECK-LABEL: define dso_local void @kept(
// CHECK-DAG:   alloca [6 x float], align 64
// CHECK-DAG:   alloca [64 x float], align 64
// CHECK-NOT:   alloca [
// CHECK-NOT:   llvm.var.annotation
// CHECK:       ret void
KERNEL void kept(int n, const float *a, float *b) {
  for (OUTER int o = 0; o < n; ++o) {
    SHARED float s[64];
    EXCLUSIVE float used_once;
    EXCLUSIVE float needed;
    for (INNER int j = 0; j < 2; ++j)
      for (INNER int i = 0; i < 3; ++i) {
        used_once = a[i];
        needed = used_once * used_once;
        s[i] = 1;
      }
    for (INNER int j = 0; j < 2; ++j)
      for (INNER int i = 0; i < 3; ++i)
        b[i] = needed + s[i];
  }
}

// A loop without anything of that is as fast as one that is no kernel: nothing is left of what was said.
// What `restrict` says still holds.
// PLAIN-LABEL: define internal void @plain.omp_outlined({{.*}}noalias {{.*}}noalias
// PLAIN-NOT:   alloca {{(\[[0-9]+ x )?(i8|float)}}
// PLAIN-NOT:   __okl
// PLAIN:       <4 x float>
// PLAIN:       ret void
KERNEL void plain(int n, const float *__restrict a, float *__restrict b) {
  for (OUTER int o = 0; o < n; o += 256)
    for (INNER int i = o; i < o + 256; ++i)
      b[i] = a[i] * 2;
}

KERNEL void bounded(int m, int *a) {
  for (OUTER MAX_INNER_DIMS(8) int o = 0; o < 1; ++o) {
    EXCLUSIVE int own;
    for (INNER int i = 0; i < m; ++i)
      own = a[i];
    for (INNER int i = 0; i < m; ++i)
      a[m - 1 - i] = own;
  }
}

int main(int count, char **arguments) {
  int m = count > 1 ? atoi(arguments[1]) : 8, a[16];
  for (int i = 0; i < 16; i++)
    a[i] = i;
  bounded(m, a);
  for (int i = 0; i < m; i++)
    if (a[i] != m - 1 - i)
      return 1;
}
