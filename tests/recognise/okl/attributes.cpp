// Attributes that have files of their own, where they cannot be: what their rows say, and what each of them looks at.
// RUN: for level in -O0 -O2; do (clang++-22 -std=c++17 -ferror-limit=0 $level -gline-tables-only -fpass-plugin=%plugin -c %s -o %t.o 2>&1; true) | FileCheck --implicit-check-not=error: --implicit-check-not=warning: %s || exit 1; done
// Without debug information the annotations have the lines of loops.
// RUN: (clang++-22 -std=c++17 -ferror-limit=0 -fpass-plugin=%plugin -c %s -o %t.o 2>&1; true) | FileCheck --check-prefix=PLAIN %s
#include "../../lower/cpu/okl/okl.h"

#define UNROLL __attribute__((annotate("okl.unroll")))
#define UNROLL_BY(...) __attribute__((annotate("okl.unroll", __VA_ARGS__)))

// CHECK-DAG: attributes.cpp:[[# @LINE + 3]]:{{.*}} error: @unroll is for @inner and regular loops
// PLAIN-DAG: attributes.cpp:[[# @LINE + 2]]:{{[0-9]+}}: error: @unroll is for @inner and regular loops
KERNEL void outer(int n, int *a) {
  for (OUTER UNROLL_BY(2) int o = 0; o < n; o++)
    for (INNER UNROLL int i = 0; i < 4; i++)
      a[i] = 0;
}

// CHECK-DAG: attributes.cpp:[[# @LINE + 3]]:{{.*}} error: this @unroll loop is in a function that is no kernel
// PLAIN-DAG: attributes.cpp:[[# @LINE + 2]]:{{[0-9]+}}: error: this @unroll loop is in a function that is no kernel
void outside(int n, int *a) {
  for (UNROLL int i = 0; i < n; i++)
    a[i] = 0;
}

// Once is enough.
// CHECK-DAG: attributes.cpp:[[# @LINE + 2]]:{{.*}} error: this @outer loop is in a function that is no kernel
void outer_outside(int n, int *a) {
  for (OUTER UNROLL int i = 0; i < n; i++)
    a[i] = 0;
}

// CHECK-DAG: attributes.cpp:[[# @LINE + 7]]:{{.*}} error: the argument of '@unroll' must be a positive integer
// CHECK-DAG: attributes.cpp:[[# @LINE + 8]]:{{.*}} error: the argument of '@unroll' must be a positive integer
// CHECK-DAG: attributes.cpp:[[# @LINE + 9]]:{{.*}} error: the argument of '@unroll' must be a positive integer
// CHECK-DAG: attributes.cpp:[[# @LINE + 10]]:{{.*}} error: @unroll takes at most one argument, how many iterations are written out
// CHECK-DAG: attributes.cpp:[[# @LINE + 11]]:{{.*}} error: @unroll is given twice
KERNEL void arguments(int n, int *a) {
  for (OUTER int o = 0; o < n; o++) {
    for (INNER UNROLL_BY(0) int i = 0; i < 4; i++)
      a[i] = 0;
    for (INNER UNROLL_BY(-4) int i = 0; i < 4; i++)
      a[i] = 0;
    for (INNER UNROLL_BY("four") int i = 0; i < 4; i++)
      a[i] = 0;
    for (INNER UNROLL_BY(2, 2) int i = 0; i < 4; i++)
      a[i] = 0;
    for (INNER UNROLL_BY(2) UNROLL_BY(4) int i = 0; i < 4; i++)
      a[i] = 0;
  }
}

// CHECK-DAG: attributes.cpp:[[# @LINE + 4]]:{{.*}} error: there is no loop in which this iterator is used, and @unroll is for loops
KERNEL void no_loop(int n, int *a) {
  for (OUTER int o = 0; o < n; o++)
    for (INNER int i = 0; i < 4; i++)
      for (UNROLL int k = 0; k < 4; k++) {
        a[i] = k;
        break;
      }
}

// What the same loop has as a pragma may be the same, and nothing else.
// CHECK-DAG: attributes.cpp:[[# @LINE + 8]]:{{.*}} error: a #pragma at this loop says something else than @unroll: one of them has to go
// CHECK-DAG: attributes.cpp:[[# @LINE + 10]]:{{.*}} error: a #pragma at this loop says something else than @unroll: one of them has to go
KERNEL void pragmas(int n, int *a) {
  for (OUTER int o = 0; o < n; o++) {
#pragma unroll 4
    for (INNER UNROLL_BY(4) int i = 0; i < 4; i++)
      a[i] = 0;
#pragma unroll 2
    for (INNER UNROLL_BY(4) int i = 0; i < 4; i++)
      a[i] = 0;
#pragma unroll 2
    for (INNER UNROLL int i = 0; i < 4; i++)
      a[i] = 0;
  }
}

// All loops together.
// CHECK-DAG: attributes.cpp:[[# @LINE + 4]]:{{.*}} error: @unroll asks for 16448 copies of the body of this loop, with the loops around it: there are at most 16384
KERNEL void copies(int n, int *a) {
  for (OUTER int o = 0; o < n; o++)
    for (INNER UNROLL int i = 0; i < 64; i++)
      for (UNROLL_BY(257) int k = 0; k < n; k++)
        a[i] += k;
}
KERNEL void not_too_many(int n, int *a) {
  for (OUTER int o = 0; o < n; o++)
    for (INNER UNROLL int i = 0; i < 64; i++) {
      for (UNROLL_BY(128) int k = 0; k < n; k++)
        a[i] += k;
      for (UNROLL_BY(256) int k = 0; k < n; k++)
        a[i] += k;
    }
}
