// What is wrong in a kernel is an error at its line, at every level of optimisation.
// RUN: for level in -O0 -O2; do (clang++-22 -std=c++17 -ferror-limit=0 -Wno-tautological-constant-out-of-range-compare $level -gline-tables-only -fpass-plugin=%plugin -c %s -o %t.o 2>&1; true) | FileCheck --implicit-check-not=error: --implicit-check-not=warning: %s || exit 1; done
// Without debug information the annotations have the lines of loops and variables.
// RUN: (clang++-22 -std=c++17 -ferror-limit=0 -fpass-plugin=%plugin -c %s -o %t.o 2>&1; true) | FileCheck --check-prefix=PLAIN %s
#include "../../lower/cpu/okl/okl.h"

// CHECK-DAG: error: {{.*}}a kernel has an @outer loop, and an @inner loop in it
KERNEL void no_loops(int n, int *a) {
  for (int i = 0; i < n; i++)
    a[i] = 0;
}

// CHECK-DAG: errors.cpp:[[# @LINE + 2]]:{{.*}} error: this @outer loop has no @inner loop in it
KERNEL void no_inner(int n, int *a) {
  for (OUTER int o = 0; o < n; o++)
    a[o] = 0;
}

// CHECK-DAG: errors.cpp:[[# @LINE + 3]]:{{.*}} error: this @inner loop is outside of any @outer loop
// PLAIN-DAG: errors.cpp:[[# @LINE + 2]]:3: error: this @inner loop is outside of any @outer loop
KERNEL void no_outer(int n, int *a) {
  for (INNER int i = 0; i < n; i++)
    a[i] = 0;
}

// CHECK-DAG: errors.cpp:[[# @LINE + 4]]:{{.*}} error: this @outer loop is inside of an @inner loop
KERNEL void turned_round(int n, int *a) {
  for (OUTER int o = 0; o < n; o++)
    for (INNER int i = 0; i < 4; i++)
      for (OUTER int p = 0; p < n; p++)
        a[p] = 0;
}

// CHECK-DAG: errors.cpp:[[# @LINE + 6]]:{{.*}} error: this is the fourth @inner loop, one in the other: there are at most three
KERNEL void four_deep(int n, int *a) {
  for (OUTER int o = 0; o < n; o++)
    for (INNER int l = 0; l < 4; l++)
      for (INNER int k = 0; k < 4; k++)
        for (INNER int j = 0; j < 4; j++)
          for (INNER int i = 0; i < 4; i++)
            a[o] = 0;
}

// CHECK-DAG: errors.cpp:[[# @LINE + 6]]:{{.*}} error: here 2 @inner loops are one in the other, and 1 elsewhere in the same @outer loop
KERNEL void unequal(int n, int *a) {
  for (OUTER int o = 0; o < n; o++) {
    for (INNER int i = 0; i < 4; i++)
      a[i] = 0;
    for (INNER int j = 0; j < 4; j++)
      for (INNER int i = 0; i < 4; i++)
        a[i] = 0;
  }
}

// CHECK-DAG: errors.cpp:[[# @LINE + 3]]:{{.*}} error: the axis of @inner is 0, 1 or 2
KERNEL void axis(int n, int *a) {
  for (OUTER int o = 0; o < n; o++)
    for (INNER_AXIS(3) int i = 0; i < 4; i++)
      a[i] = 0;
}

// CHECK-DAG: errors.cpp:[[# @LINE + 4]]:{{.*}} error: this @inner loop and one around it both have axis 1
KERNEL void axes(int n, int *a) {
  for (OUTER int o = 0; o < n; o++)
    for (INNER int j = 0; j < 4; j++)
      for (INNER_AXIS(1) int i = 0; i < 4; i++)
        a[i] = 0;
}

// CHECK-DAG: errors.cpp:[[# @LINE + 5]]:{{.*}} error: there is another loop between this @inner loop and the @inner loop around it
KERNEL void between(int n, int *a) {
  for (OUTER int o = 0; o < n; o++)
    for (INNER int j = 0; j < 4; j++)
      for (int k = 0; k < 4; k++)
        for (INNER int i = 0; i < 4; i++)
          a[i] = 0;
}

// CHECK-DAG: errors.cpp:[[# @LINE + 3]]:{{.*}} error: @exclusive variables are declared inside of the innermost @outer loop
KERNEL void between_outer_loops(int n, int *a) {
  for (OUTER int p = 0; p < n; p++) {
    EXCLUSIVE int own = 3;
    for (OUTER int o = 0; o < n; o++)
      for (INNER int i = 0; i < 4; i++)
        a[i] = own++;
  }
}

// CHECK-DAG: errors.cpp:[[# @LINE + 2]]:{{.*}} error: this @outer loop is in a function that is no kernel
void no_kernel(int n, int *a) {
  for (OUTER int o = 0; o < n; o++)
    a[o] = 0;
}

// CHECK-DAG: error: {{.*}}a kernel returns nothing: its type is void
KERNEL int returns(int n, int *a) {
  for (OUTER int o = 0; o < n; o++)
    for (INNER int i = 0; i < 4; i++)
      a[i] = 0;
  return 0;
}

// How loops count.
// CHECK-DAG: errors.cpp:[[# @LINE + 4]]:{{.*}} error: this @outer loop is not understood: it has the form `for (int i = START; i < END; i += STEP)`, with `<`, `<=`, `>` or `>=`, `++`, `--`, `+=` or `-=`
// CHECK-DAG: errors.cpp:[[# @LINE + 4]]:{{.*}} error: this @inner loop steps away from its end
// CHECK-DAG: errors.cpp:[[# @LINE + 6]]:{{.*}} error: this @inner loop has an iterator that is changed in its body
KERNEL void counts(int n, int *a) {
  for (OUTER int o = 0; o != n; o++)
    for (INNER int i = 4; i < 8; i--)
      a[i] = 0;
  for (OUTER int o = 0; o < n; o++)
    for (INNER int i = 0; i < 8; i++)
      a[i++] = 0;
}
// CHECK-DAG: errors.cpp:[[# @LINE + 4]]:{{.*}} error: this @inner loop has an end that depends on its iterator
// CHECK-DAG: errors.cpp:[[# @LINE + 5]]:{{.*}} error: this @outer loop has an iterator whose address is taken: nothing but the loop may change it
KERNEL void more_counts(int n, int *a, int **p) {
  for (OUTER int o = 0; o < n; o++)
    for (INNER int i = 0; i < n - i; i++)
      a[i] = 0;
  for (OUTER int o = 0; o < n; o++)
    for (INNER int i = 0; i < 4; i++)
      p[i] = &o;
}
// CHECK-DAG: errors.cpp:[[# @LINE + 5]]:{{.*}} error: this @inner loop has an end that changes while it runs
// CHECK-DAG: errors.cpp:[[# @LINE + 8]]:{{.*}} error: this @inner loop is not understood
KERNEL void ends(int n, int *a) {
  for (OUTER int o = 0; o < n; o++) {
    int end = 4;
    for (INNER int i = 0; i < end; i++)
      a[i] = end--;
  }
  for (OUTER int o = 0; o < n; o++)
    for (INNER int i = 1; i < n; i *= 2)
      a[i] = 0;
}
// CHECK-DAG: errors.cpp:[[# @LINE + 4]]:{{.*}} error: this @inner loop counts with something that is no integer
// CHECK-DAG: errors.cpp:[[# @LINE + 6]]:{{.*}} error: this @inner loop has a step of 0
KERNEL void kinds(int n, int *a) {
  for (OUTER int o = 0; o < n; o++)
    for (INNER int *i = a; i < a + 4; i++)
      *i = 0;
  for (OUTER int o = 0; o < n; o++)
    for (INNER int i = 0; i < 4; i += 0)
      a[i] = 0;
}

// CHECK-DAG: errors.cpp:[[# @LINE + 4]]:{{.*}} error: this @inner loop does not come to its end: its iterator is too small for that
// CHECK-DAG: errors.cpp:[[# @LINE + 5]]:{{.*}} error: this @inner loop does not come to its end: its iterator is too small for that
KERNEL void too_small(int n, int *a) {
  for (OUTER int o = 0; o < n; o++) {
    for (INNER unsigned i = 10; i > 0; i -= 3)
      a[i] = 0;
    for (INNER unsigned char i = 200; i < 256; i++)
      a[i] = 0;
    for (INNER signed char i = -128; i < 127; i++)
      a[i + 128] = 0;
    for (INNER unsigned char i = 200; i < 255; i++)
      a[i] = 0;
    for (INNER unsigned i = 9; i > 0; i -= 3)
      a[i] = 0;
  }
}

// How they are left.
// CHECK-DAG: errors.cpp:[[# @LINE + 5]]:{{.*}} error: this @inner loop is left by a `break`, `return` or `goto`: all of its iterations have to run
// CHECK-DAG: errors.cpp:[[# @LINE + 10]]:{{.*}} error: this @inner loop is left by
// CHECK-DAG: errors.cpp:[[# @LINE + 14]]:{{.*}} error: this @outer loop is left by
KERNEL void left(int n, int *a) {
  for (OUTER int o = 0; o < n; o++)
    for (INNER int i = 0; i < 8; i++) {
      if (a[i] == 3)
        break;
      a[i] = 0;
    }
  for (OUTER int o = 0; o < n; o++)
    for (INNER int i = 0; i < 8; i++) {
      if (a[i] == 3)
        return;
      a[i] = 0;
    }
  for (OUTER int o = 0; o < n; o++) {
    if (a[o] == 3)
      goto end;
    for (INNER int i = 0; i < 8; i++)
      a[i] = 0;
  }
end:;
}
