// An exception that an iteration handles itself is one like others; one that would leave it ends the program.
// RUN: for level in "-O0 -g" -O2; do clang++-22 -std=c++17 $level -fopenmp -fpass-plugin=%plugin -Rpass-missed=okl %s -L%runtime-dir -lokl_cpu -Wl,-rpath,%runtime-dir -o %t 2>&1 | FileCheck --check-prefix=TOLD %s || exit 1; for threads in 1 3; do OMP_NUM_THREADS=$threads sh -c 'for n in 0 1 2 3; do %t $n -1; echo $?; done; for n in 0 1 2 3; do %t $n 3; echo $?; done; %t 0 0; echo $?' | FileCheck %s || exit 1; done; done
#include "okl.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

static void fails(int i, int at) {
  if (i == at)
    throw 3;
}
static int destroyed;
struct Object {
  int at;
  Object(int at) : at(at) {}
  ~Object() {
    // Threads count together.
    __atomic_fetch_add(&destroyed, 1, __ATOMIC_RELAXED);
  }
};

KERNEL void plain(int n, int at, int *a) {
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 2; ++i) {
      fails(o, at);
      a[o * 2 + i] = o;
    }
}
KERNEL void cleaned(int n, int at, int *a) {
  Object outer(-1);
  for (OUTER int o = 0; o < n; ++o) {
    Object object(o);
    for (INNER int i = 0; i < 2; ++i) {
      fails(o, at);
      a[o * 2 + i] = object.at;
    }
  }
  fails(n, at);
}
KERNEL void caught(int n, int at, int *a) {
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 2; ++i) {
      try {
        fails(o, at);
        a[o * 2 + i] = o;
      } catch (...) {
        a[o * 2 + i] = -7;
      }
    }
}
// TOLD: exceptions.cpp:[[# @LINE + 2]]:{{.*}}: remark: the blocks of this @outer loop run on one thread: it catches exceptions of a type
KERNEL void typed(int n, int at, int *a) {
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 2; ++i) {
      try {
        fails(o, at);
        a[o * 2 + i] = o;
      } catch (int e) {
        a[o * 2 + i] = -e;
      }
    }
}

// CHECK:      0 1 2 3 4 5 destroyed 0
// CHECK-NEXT: 0
// CHECK-NEXT: 0 1 2 3 4 5 destroyed 7
// CHECK-NEXT: 0
// CHECK-NEXT: 0 1 2 3 4 5 destroyed 0
// CHECK-NEXT: 0
// CHECK-NEXT: 0 1 2 3 4 5 destroyed 0
// CHECK-NEXT: 0
// CHECK-NEXT: terminated
// CHECK-NEXT: 5
// CHECK-NEXT: terminated
// CHECK-NEXT: 5
// CHECK-NEXT: 0 1 2 -7 4 5 destroyed 0
// CHECK-NEXT: 0
// CHECK-NEXT: 0 1 2 -3 4 5 destroyed 0
// CHECK-NEXT: 0
// CHECK-NEXT: terminated
// CHECK-NEXT: 5
int main(int, char **argv) {
  std::set_terminate([] {
    puts("terminated");
    fflush(stdout);
    _Exit(5);
  });
  int which = atoi(argv[1]), at = atoi(argv[2]);
  const int n = 6;
  std::vector<int> a(2 * n);
  try {
    (which == 0 ? plain : which == 1 ? cleaned : which == 2 ? caught : typed)(n, at, a.data());
  } catch (int) {
    puts("left by the exception");
  }
  for (int i = 0; i < n; i++)
    printf("%d ", a[2 * i + 1]);
  printf("destroyed %d\n", destroyed);
}
