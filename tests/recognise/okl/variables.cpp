// Variables and barriers of work items that are where they cannot be, and variables that they would write at the same time.
// RUN: for level in -O0 -O2; do (clang++-22 -std=c++17 -ferror-limit=0 -Wno-vla-cxx-extension $level -gline-tables-only -fpass-plugin=%plugin -c %s -o %t.o 2>&1; true) | FileCheck --implicit-check-not=error: --implicit-check-not=warning: %s || exit 1; done
#include "../../lower/cpu/okl/okl.h"

// CHECK-DAG: variables.cpp:[[# @LINE + 3]]:{{.*}} error: @shared variables are declared inside of an @outer loop and outside of any @inner loop
// CHECK-DAG: variables.cpp:[[# @LINE + 5]]:{{.*}} error: @exclusive variables are declared inside of an @outer loop and outside of any @inner loop
KERNEL void placed(int n, int *a) {
  SHARED int early[4];
  for (OUTER int o = 0; o < n; o++)
    for (INNER int i = 0; i < 4; i++) {
      EXCLUSIVE int late = 0;
      a[i] = early[i] + late;
    }
}

// CHECK-DAG: variables.cpp:[[# @LINE + 4]]:{{.*}} error: a @shared variable is an array
// CHECK-DAG: variables.cpp:[[# @LINE + 4]]:{{.*}} error: the size of this variable is not known when the program is compiled
KERNEL void sized(int n, int *a) {
  for (OUTER int o = 0; o < n; o++) {
    SHARED int one;
    SHARED int several[n];
    for (INNER int i = 0; i < 4; i++) {
      one = several[i] = i;
      a[i] = one + several[i];
    }
  }
}

// CHECK-DAG: error: {{.*}}variables.cpp:[[# @LINE + 5]]: this @shared variable exists once in the program: it is declared in a kernel, and not static
// CHECK-DAG: error: {{.*}}variables.cpp:[[# @LINE + 1]]: this @exclusive variable exists once in the program
EXCLUSIVE int everywhere;
KERNEL void once(int n, int *a) {
  for (OUTER int o = 0; o < n; o++) {
    SHARED static int all[4];
    for (INNER int i = 0; i < 4; i++)
      a[i] = all[i] + everywhere;
  }
}

// CHECK-DAG: variables.cpp:[[# @LINE + 4]]:{{.*}} error: a variable is @shared, or each work item has its own: not both
// CHECK-DAG: variables.cpp:[[# @LINE + 4]]:{{.*}} error: this @shared array has no elements
KERNEL void kinds(int n, int *a) {
  for (OUTER int o = 0; o < n; o++) {
    SHARED EXCLUSIVE int both[4];
    SHARED int none[0];
    for (INNER int i = 0; i < 4; i++)
      a[i] = both[i] + none[i];
  }
}

// CHECK-DAG: variables.cpp:[[# @LINE + 6]]:{{.*}} error: @shared variables are used inside of @inner loops only
// CHECK-DAG: variables.cpp:[[# @LINE + 8]]:{{.*}} error: @exclusive variables are used inside of @inner loops only
KERNEL void used(int n, int *a) {
  for (OUTER int o = 0; o < n; o++) {
    SHARED int all[4];
    EXCLUSIVE int own = 3;
    all[0] = 1;
    for (INNER int i = 0; i < 4; i++)
      own += all[i];
    own = 5;
    for (INNER int i = 0; i < 4; i++)
      a[i] = own;
  }
}

// CHECK-DAG: variables.cpp:[[# @LINE + 4]]:{{.*}} error: @exclusive variables are used inside of @inner loops only
KERNEL void read(int n, int *a) {
  for (OUTER int o = 0; o < n; o++) {
    EXCLUSIVE int own = 3;
    a[o] = own;
    for (INNER int i = 0; i < 4; i++)
      a[i] = own;
  }
}

// CHECK-DAG: variables.cpp:[[# @LINE + 3]]:{{.*}} error: this @shared variable is in a function that is no kernel
KERNEL void outside_of_kernels(int n, int *a);
void helper() {
  SHARED int all[4];
}

// CHECK-DAG: variables.cpp:[[# @LINE + 6]]:{{.*}} error: @nobarrier is for @inner loops
// CHECK-DAG: variables.cpp:[[# @LINE + 8]]:{{.*}} error: the arguments of '@max_inner_dims' must be positive integers
// CHECK-DAG: variables.cpp:[[# @LINE + 10]]:{{.*}} error: @max_inner_dims takes one to three sizes
// CHECK-DAG: variables.cpp:[[# @LINE + 13]]:{{.*}} error: @max_inner_dims is for @outer loops
// CHECK-DAG: variables.cpp:[[# @LINE + 15]]:{{.*}} error: there is no @unknown
KERNEL void said(int n, int *a) {
  for (OUTER NOBARRIER int o = 0; o < n; o++)
    for (INNER int i = 0; i < 4; i++)
      a[i] = 0;
  for (OUTER MAX_INNER_DIMS(0) int o = 0; o < n; o++)
    for (INNER int i = 0; i < 4; i++)
      a[i] = 0;
  for (OUTER MAX_INNER_DIMS(4, 4, 4, 4) int o = 0; o < n; o++)
    for (INNER int i = 0; i < 4; i++)
      a[i] = 0;
  for (OUTER int o = 0; o < n; o++)
    for (INNER MAX_INNER_DIMS(4) int i = 0; i < 4; i++)
      a[i] = 0;
  for (OUTER int o = 0; o < n; o++)
    for (INNER __attribute__((annotate("okl.unknown"))) int i = 0; i < 4; i++)
      a[i] = 0;
}

// CHECK-DAG: variables.cpp:[[# @LINE + 4]]:{{.*}} error: this @inner loop has 5 iterations, and @max_inner_dims says 4
// CHECK-DAG: variables.cpp:[[# @LINE + 6]]:{{.*}} error: this belongs to the outermost @outer loop
KERNEL void most(int n, int *a) {
  for (OUTER MAX_INNER_DIMS(4) int o = 0; o < n; o++)
    for (INNER int i = 0; i < 5; i++)
      a[i] = 0;
  for (OUTER int p = 0; p < n; p++)
    for (OUTER MAX_INNER_DIMS(4) int o = 0; o < n; o++)
      for (INNER int i = 0; i < 4; i++)
        a[i] = 0;
}

// Once is enough.
// CHECK-DAG: variables.cpp:[[# @LINE + 3]]:{{.*}} error: this @inner loop has 6 iterations, and @max_inner_dims says 4
KERNEL void most_in_nests(int n, int *a) {
  for (OUTER MAX_INNER_DIMS(4) int o = 0; o < n; o++) {
    for (INNER int i = 0; i < 6; i++)
      a[i] = 0;
    for (INNER int i = 0; i < 7; i++)
      a[i] = 0;
  }
}

// CHECK-DAG: variables.cpp:[[# @LINE + 2]]:{{.*}} error: what this @tile says is not understood: a size, two kinds of loops with an axis each, and a check
KERNEL void tiled(int n, int *a) {
  for (__attribute__((annotate("okl.tile", 16, "outer", "inner"))) int i = 0; i < n; i++)
    a[i] = 0;
  for (OUTER int o = 0; o < n; o++)
    for (INNER int i = 0; i < 4; i++)
      a[i] = 0;
}

// CHECK-DAG: variables.cpp:[[# @LINE + 6]]:{{.*}} error: iterations of an @outer loop write a variable from outside of it here: declare it inside of it
// CHECK-DAG: variables.cpp:[[# @LINE + 7]]:{{.*}} error: iterations of an @inner loop write a variable from outside of it here: declare it inside of it, or as @shared or @exclusive
KERNEL void written(int n, int *a) {
  int count = 0;
  for (OUTER int o = 0; o < n; o++) {
    int sum = 0;
    count++;
    for (INNER int i = 0; i < 4; i++)
      sum += a[i];
    a[o] = sum + count;
  }
}

// CHECK-DAG: variables.cpp:[[# @LINE + 9]]:{{.*}} error: iterations of an @inner loop write a variable from outside of it here
// CHECK-DAG: variables.cpp:[[# @LINE + 9]]:{{.*}} error: iterations of an @inner loop may write a variable from outside of it here
static void change(int *x) { *x = 1; }
static int look(const int &x) { return x + 1; }
void unknown(const int *x);
KERNEL void called(int n, int *a) {
  for (OUTER int o = 0; o < n; o++) {
    int first = 0, second = 1, third = 2;
    for (INNER int i = 0; i < 4; i++) {
      change(&first);
      unknown(&second);
      a[i] = look(third);
    }
    for (INNER int i = 0; i < 4; i++)
      a[i] = first + second;
  }
}

// An address that a function hands back leads to the same variable.
// CHECK-DAG: variables.cpp:[[# @LINE + 9]]:{{.*}} error: iterations of an @inner loop write a variable from outside of it here
struct Row {
  int all[4];
  int &at(int i) { return all[i]; }
  const int &at(int i) const { return all[i]; }
};
KERNEL void handed_back(int n, const Row first, Row second, int *a) {
  for (OUTER int o = 0; o < n; o++) {
    for (INNER int i = 0; i < 4; i++)
      second.at(i) = first.at(i);
    for (INNER int i = 0; i < 4; i++)
      a[i] = second.at(i) + first.at(3 - i);
  }
}

// So does what a lambda captures by reference, also when another function calls it.
// CHECK-DAG: variables.cpp:[[# @LINE + 8]]:{{.*}} error: iterations of an @inner loop write a variable from outside of it here
// CHECK-DAG: variables.cpp:[[# @LINE + 8]]:{{.*}} error: iterations of an @inner loop write a variable from outside of it here
template <typename F> static void twice(const F &f) { f(), f(); }
KERNEL void captured(int n, int *a) {
  for (OUTER int o = 0; o < n; o++) {
    int first = 0, second = 1, third = 2;
    const auto get = [&] { return third + n + o; };
    for (INNER int i = 0; i < 4; i++) {
      [&] { first += i; }();
      twice([&] { second += i; });
      a[i] = get();
    }
    for (INNER int i = 0; i < 4; i++)
      a[i] = first + second + get();
  }
}

// CHECK-DAG: variables.cpp:[[# @LINE + 3]]:{{.*}} error: this barrier stands outside of any @outer loop: there are no work items that could meet
// CHECK-DAG: variables.cpp:[[# @LINE + 5]]:{{.*}} error: this barrier stands between two @inner loops, one in the other
KERNEL void barriers(int n, int *a) {
  BARRIER;
  for (OUTER int o = 0; o < n; o++)
    for (INNER int j = 0; j < 4; j++) {
      BARRIER;
      for (INNER int i = 0; i < 4; i++)
        a[i] = 0;
    }
}

// CHECK-DAG: variables.cpp:[[# @LINE + 9]]:{{.*}} error: this barrier stands under a condition or in a loop inside of an @inner loop that may differ between work items: it is not sure that all work items of the block come to it
// CHECK-DAG: variables.cpp:[[# @LINE + 12]]:{{.*}} error: this barrier stands under a condition or in a loop
// CHECK-DAG: variables.cpp:[[# @LINE + 15]]:{{.*}} error: this barrier stands under a condition or in a loop
// CHECK-DAG: variables.cpp:[[# @LINE + 16]]:{{.*}} error: the function that is called here has a barrier: inside of an @inner loop barriers stand in the loop itself
static void meet() { BARRIER; }
KERNEL void conditions(int n, int *a) {
  for (OUTER int o = 0; o < n; o++) {
    for (INNER int i = 0; i < 4; i++)
      if (i < 2)
        BARRIER;
    for (INNER int i = 0; i < 4; i++) {
      if (a[i] == 3)
        continue;
      BARRIER;
    }
    for (INNER int i = 0; i < 4; i++)
      for (int k = 0; k < i; k++)
        BARRIER;
    for (INNER int i = 0; i < 4; i++)
      meet();
  }
}
