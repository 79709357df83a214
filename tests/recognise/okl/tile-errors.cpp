// What is wrong with a tile is an error at its line.
// RUN: for level in -O0 -O2; do (clang++-22 -std=c++17 -ferror-limit=0 $level -gline-tables-only -fpass-plugin=%plugin -c %s -o %t.o 2>&1; true) | FileCheck --implicit-check-not=error: --implicit-check-not=warning: %s || exit 1; done
// Where no tile is wrong by itself, loops are as they are everywhere.
// RUN: (clang++-22 -std=c++17 -DLOOPS -ferror-limit=0 -gline-tables-only -fpass-plugin=%plugin -c %s -o %t.o 2>&1; true) | FileCheck --check-prefix=LOOPS --implicit-check-not=error: --implicit-check-not=warning: %s
#include "../../lower/cpu/okl/okl.h"

#ifndef LOOPS
// CHECK-DAG: tile-errors.cpp:[[# @LINE + 4]]:{{.*}} error: the size of a @tile is a positive number
// CHECK-DAG: tile-errors.cpp:[[# @LINE + 6]]:{{.*}} error: the size of a @tile is a positive number
// CHECK-DAG: tile-errors.cpp:[[# @LINE + 7]]:{{.*}} error: the size of a @tile is a positive number
KERNEL void sizes(int n, int *a) {
  for (TILE(0, "outer", "inner", 1) int i = 0; i < n; i++)
    a[i] = 0;
  constexpr int none = -4;
  for (TILE(0, "outer", "inner", 1) int i = SIZED(none, 0); i < n; i++)
    a[i] = 0;
  for (TILE(-16, "regular", "regular", 1) int i = 0; i < n; i++)
    a[i] = 0;
}

// CHECK-DAG: tile-errors.cpp:[[# @LINE + 2]]:{{.*}} error: this @tile loop has 10 iterations: a size of 4 does not divide them, as check=false says
KERNEL void divides(int *a) {
  for (TILE(4, "outer", "inner", 0) int i = 0; i < 10; i++)
    a[i] = 0;
}

// CHECK-DAG: tile-errors.cpp:[[# @LINE + 5]]:{{.*}} error: this @tile loop is not understood: it has the form `for (int i = START; i < END; i += STEP)`
// CHECK-DAG: tile-errors.cpp:[[# @LINE + 6]]:{{.*}} error: this @tile loop is left by a `break`, `return` or `goto`: all of its iterations have to run
// CHECK-DAG: tile-errors.cpp:[[# @LINE + 8]]:{{.*}} error: this @tile loop has a condition, or a step, that is not understood
// CHECK-DAG: tile-errors.cpp:[[# @LINE + 9]]:{{.*}} error: this @tile loop is said to be one twice
KERNEL void form(int n, int *a) {
  for (TILE(4, "outer", "inner", 1) int i = 0; i != n; i++)
    a[i] = 0;
  for (TILE(4, "outer", "inner", 1) int i = 0; i < n; i++)
    if (a[i])
      break;
  for (TILE(4, "outer", "inner", 1) int i = 0; (char)i < n; i++)
    a[i] = 0;
  for (TILE(4, "outer", "inner", 1) OUTER int i = 0; i < n; i++)
    a[i] = 0;
}

// CHECK-DAG: tile-errors.cpp:[[# @LINE + 4]]:{{.*}} error: this barrier is inside of a @tile with a check: it is not sure that all work items of the last block come to it; where the size divides the number of iterations, check=false says so
KERNEL void barrier(int n, int *a) {
  for (TILE(4, "outer", "inner", 1) int i = 0; i < n; i++) {
    a[i] = 0;
    BARRIER;
    a[i]++;
  }
}

// CHECK-DAG: tile-errors.cpp:[[# @LINE + 3]]:{{.*}} error: the @outer loop of this @tile comes before the @inner loop of the tile around it: its first value, its end, its step and its size have to be computed from variables that do not change in there
KERNEL void depends(int n, int *a) {
  for (TILE(4, "outer", "inner", 1) int y = 0; y < n; y++)
    for (TILE(4, "outer", "inner", 1) int x = 0; x < y; x++)
      a[x] = 0;
}

// CHECK-DAG: tile-errors.cpp:[[# @LINE + 3]]:{{.*}} error: the @outer loop of this @tile comes before the @inner loop of the tile around it
KERNEL void from_memory(int n, int *a) {
  for (TILE(4, "outer", "inner", 1) int y = 0; y < n; y++)
    for (TILE(4, "outer", "inner", 1) int x = 0; x < a[0]; x++)
      a[x] = 0;
}

// CHECK-DAG: tile-errors.cpp:[[# @LINE + 3]]:{{.*}} error: this stands between two tiles, one in the other, of which both @outer loops come first: only variables may be computed here, from variables that the inner tile does not change
KERNEL void before(int n, int *a) {
  for (TILE(4, "outer", "inner", 1) int y = 0; y < n; y++) {
    int row = a[y];
    for (TILE(4, "outer", "inner", 1) int x = 0; x < n; x++)
      a[row + x] = 0;
  }
}

// CHECK-DAG: tile-errors.cpp:[[# @LINE + 5]]:{{.*}} error: this stands between two tiles
KERNEL void behind(int n, int *a) {
  for (TILE(4, "outer", "inner", 1) int y = 0; y < n; y++) {
    for (TILE(4, "outer", "inner", 1) int x = 0; x < n; x++)
      a[x] = 0;
    a[y]++;
  }
}

// CHECK-DAG: tile-errors.cpp:[[# @LINE + 3]]:{{.*}} error: this stands between two tiles
KERNEL void condition(int n, int *a) {
  for (TILE(4, "outer", "inner", 1) int y = 0; y < n; y++)
    if (y != 3)
      for (TILE(4, "outer", "inner", 1) int x = 0; x < n; x++)
        a[x] = 0;
}

// CHECK-DAG: tile-errors.cpp:[[# @LINE + 2]]:{{.*}} error: this @tile loop is in a function that is no kernel
void no_kernel(int n, int *a) {
  for (TILE(4, "outer", "inner", 1) int y = 0; y < n; y++)
    a[y] = 0;
}

// CHECK-DAG: tile-errors.cpp:[[# @LINE + 3]]:{{.*}} error: the first loop of this @tile, which is over blocks, is @inner, and the second one @outer: @outer loops are around @inner loops
// CHECK-DAG: tile-errors.cpp:[[# @LINE + 4]]:{{.*}} error: the axis of @inner is 0, 1 or 2
KERNEL void turned(int n, int *a) {
  for (TILE(4, "inner", "outer", 1) int i = 0; i < n; i++)
    a[i] = 0;
  for (__attribute__((annotate("okl.tile", 4, "outer", 0, "inner", 3, 1))) int i = 0; i < n; i++)
    a[i] = 0;
}

#else
// LOOPS-DAG: tile-errors.cpp:[[# @LINE + 3]]:{{.*}} error: this is the fourth @outer loop, one in the other: there are at most three
KERNEL void fourth(int n, int *a) {
  for (TILE(4, "outer", "outer", 1) int y = 0; y < n; y++)
    for (TILE(4, "outer", "outer", 1) int x = 0; x < n; x++)
      for (INNER int i = 0; i < 4; i++)
        a[y] = 0;
}

// LOOPS-DAG: tile-errors.cpp:[[# @LINE + 2]]:{{.*}} error: this @outer loop has no @inner loop in it
KERNEL void alone(int n, int *a) {
  for (TILE(4, "outer", "regular", 1) int y = 0; y < n; y++)
    a[y] = 0;
}

// LOOPS-DAG: tile-errors.cpp:[[# @LINE + 3]]:{{.*}} error: this @outer loop is inside of an @inner loop
KERNEL void under(int n, int *a) {
  for (TILE(4, "outer", "inner", 1) int y = 0; y < n; y++)
    for (OUTER int x = 0; x < n; x++)
      for (INNER int i = 0; i < 4; i++)
        a[y] = 0;
}

// LOOPS-DAG: tile-errors.cpp:[[# @LINE + 4]]:{{.*}} error: iterations of an @inner loop write a variable from outside of it here
KERNEL void writes(int n, int *a) {
  int last = 0;
  for (TILE(4, "outer", "inner", 1) int y = 0; y < n; y++)
    last = y;
  a[0] = last;
}
#endif
