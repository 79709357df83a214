// What the processor cannot do is an error at its line.
// RUN: for level in -O0 -O2; do (clang++-22 -std=c++17 $level -gline-tables-only -fpass-plugin=%plugin -c %s -o %t.o 2>&1; true) | FileCheck --implicit-check-not=error: --implicit-check-not=warning: %s || exit 1; done
#include "okl.h"

// A variable that only one nest needs has no room for each work item, and that of a nest in a loop does. What is computed before
// the first nest can be counted: tests/okl/counted.okl.
// CHECK-DAG: errors.cpp:[[# @LINE + 4]]:{{.*}} error: how many work items a block has is not known when the first @inner loop with this variable begins, and each needs its own: compute it before, or say with @max_inner_dims how many there are at most
KERNEL void unknown(int n, int m, int *a) {
  for (OUTER int o = 0; o < n; ++o) {
    EXCLUSIVE int free;
    EXCLUSIVE int own;
    int size = m;
    for (INNER int i = 0; i < size; ++i)
      own = free = a[i], a[i] = free;
    size = a[0];
    for (INNER int i = 0; i < size; ++i)
      a[i] = own;
  }
}
// CHECK-DAG: errors.cpp:[[# @LINE + 3]]:{{.*}} error: how many work items a block has is not known
KERNEL void in_a_loop(int n, int m, int *a) {
  for (OUTER int o = 0; o < n; ++o) {
    EXCLUSIVE int again;
    for (int k = 0; k < 2; ++k)
      for (INNER int i = 0; i < m + k; ++i)
        a[i] = again++;
  }
}

// CHECK-DAG: errors.cpp:[[# @LINE + 5]]:{{.*}} error: how many work items a block has is not known
KERNEL void behind_a_barrier(int n, int m, int *a) {
  for (OUTER int o = 0; o < n; ++o)
    for (int k = 0; k < 2; ++k)
      for (INNER int i = 0; i < m + k; ++i) {
        int own = a[i];
        BARRIER;
        a[m - 1 - i] = own;
      }
}

// CHECK-DAG: errors.cpp:[[# @LINE + 3]]:{{.*}} error: a variable for each work item of a block does not fit on the stack
KERNEL void large(int n, int *a) {
  for (OUTER int o = 0; o < n; ++o) {
    EXCLUSIVE int own[1000][1000];
    for (INNER int i = 0; i < 8; ++i)
      own[i][i] = i;
    for (INNER int i = 0; i < 8; ++i)
      a[i] = own[i][i];
  }
}

// CHECK-DAG: errors.cpp:[[# @LINE + 5]]:{{.*}} error: an @exclusive variable is used inside of all @inner loops of a nest only
KERNEL void half_inside(int n, int *a) {
  for (OUTER int o = 0; o < n; ++o) {
    EXCLUSIVE int own;
    for (INNER int j = 0; j < 4; ++j) {
      own = j;
      for (INNER int i = 0; i < 4; ++i)
        a[j * 4 + i] = own;
    }
  }
}

// With a barrier in it, a nest runs in parts: its loops count several times.
// CHECK-DAG: errors.cpp:[[# @LINE + 3]]:{{.*}} error: this stands between the loops of a nest, or decides how they count: with a barrier in an @inner loop that is not understood
KERNEL void counted_by_memory(int n, int *a) {
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < a[0]; ++i) {
      BARRIER;
      a[i] = 0;
    }
}
// CHECK-DAG: errors.cpp:[[# @LINE + 4]]:{{.*}} error: this stands between the loops of a nest
KERNEL void between(int n, int *a) {
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int j = 0; j < 4; ++j) {
      a[j] = 0;
      for (INNER int i = 0; i < 4; ++i) {
        BARRIER;
        a[i]++;
      }
    }
}
// CHECK-DAG: errors.cpp:[[# @LINE + 3]]:{{.*}} error: this loop has several @inner loops side by side in it: with a barrier
KERNEL void side_by_side(int n, int *a) {
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int j = 0; j < 4; ++j) {
      for (INNER int i = 0; i < 4; ++i) {
        BARRIER;
        a[i]++;
      }
      for (INNER int i = 0; i < 4; ++i)
        a[i]++;
    }
}
// CHECK-DAG: errors.cpp:[[# @LINE + 3]]:{{.*}} error: this loop has a first value that is computed with a condition: with a barrier
KERNEL void begins(int n, int *a) {
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = o > 2 ? n : 0; i < 4; ++i) {
      BARRIER;
      a[i]++;
    }
}
