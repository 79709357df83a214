// Atomic code that would keep its lock, or wait for itself, is an error at its line.
// RUN: (clang++-22 -std=c++17 -O0 -gline-tables-only -fpass-plugin=%plugin -c %s -o %t.o 2>&1; true) | FileCheck --implicit-check-not=error: %s
#include "okl.h"

static void helper(int *a) { ATOMIC(*a += 1); }

// CHECK-DAG: atomic-errors.cpp:[[# @LINE + 4]]:{{.*}} error: this @atomic code is left by a `return`, `break`, `continue` or `goto`, or has other @atomic code in it: it has to come to its end
KERNEL void left(int n, int *a) {
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 4; ++i) {
      __okl_atomic_begin(1);
      if (a[o] == 0)
        continue;
      a[o]--;
      __okl_atomic_end();
    }
}
// CHECK-DAG: atomic-errors.cpp:[[# @LINE + 6]]:{{.*}} error: the function that is called here has @atomic code, for which @atomic code would wait forever: call it in front of this
KERNEL void nested(int n, int *a) {
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 4; ++i) {
      __okl_atomic_begin(1);
      a[1] = 2 * a[0];
      helper(a);
      __okl_atomic_end();
    }
}
// CHECK-DAG: atomic-errors.cpp:[[# @LINE + 2]]:{{.*}} error: this @atomic code has no end
extern "C" void endless(int *a) {
  __okl_atomic_begin(1);
  for (;;)
    a[0]++, a[1]++;
}
