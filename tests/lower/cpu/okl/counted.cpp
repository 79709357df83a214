// Where how many work items a block has is only known when it begins, it is counted there, and their variables have room on the
// stack until it ends. What there is no room for ends the program, with its line.
// RUN: clang++-22 -std=c++17 -O0 -Xclang -disable-O0-optnone -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck %s
// RUN: clang++-22 -std=c++17 -O3 -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck --check-prefix=FAST %s
// RUN: for level in "-O0 -g" -O2; do clang++-22 -std=c++17 $level -fopenmp -fpass-plugin=%plugin %s -L%runtime-dir -lokl_cpu -Wl,-rpath,%runtime-dir -o %t && %t 131072 || exit 1; done
// RUN: (%t 131073; test $? -gt 128) 2>&1 | FileCheck --check-prefix=LARGE %s
// RUN: (%t 8 4; test $? -gt 128) 2>&1 | FileCheck --check-prefix=MORE %s
#include "okl.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

// CHECK-LABEL: define internal void @turned.omp_outlined(
// CHECK:         [[BEFORE:%.*]] = call ptr @llvm.stacksave.p0()
// CHECK:         call void @__assert_fail(
// CHECK:         alloca double, i64 %{{.*}}, align 64
// CHECK-NOT:     call void @__assert_fail(
// CHECK:         call void @llvm.stackrestore.p0(ptr [[BEFORE]])
// CHECK:         ret void
// FAST-LABEL: define internal void @turned.omp_outlined({{.*}}noalias {{.*}}noalias
// FAST:         <2 x double>
// FAST:         ret void
// LARGE: counted.cpp:[[# @LINE + 3]]: turned{{.*}}: Assertion `there is room for the variables of 131072 work items of a block, of 8 bytes each' failed
KERNEL void turned(int n, int m, const double *__restrict a, double *__restrict b) {
  for (OUTER int o = 0; o < n; ++o) {
    EXCLUSIVE double own;
    for (INNER int i = 0; i < m; ++i)
      own = a[i] + o;
    for (INNER int i = 0; i < m; ++i)
      b[o * m + i] = own * own;
  }
}

// What the ends are read from changes.
// MORE: counted.cpp:[[# @LINE + 3]]: growing{{.*}}: Assertion `a block has no more work items than were counted when its first @inner loop began' failed
KERNEL void growing(int more, int *m, int *a) {
  for (OUTER int o = 0; o < 1; ++o) {
    EXCLUSIVE int own;
    for (INNER int i = 0; i < m[o]; ++i)
      own = a[i];
    m[o] += more;
    for (INNER int i = 0; i < m[o]; ++i)
      a[i] = own + 1;
  }
}

int main(int count, char **arguments) {
  int m = atoi(arguments[1]), n = 3;
  std::vector<double> a(m), b(n * m);
  for (int i = 0; i < m; i++)
    a[i] = i % 100;
  turned(n, m, a.data(), b.data());
  for (int i = 0; i < n * m; i++)
    if (b[i] != (a[i % m] + i / m) * (a[i % m] + i / m))
      return 1;
  std::vector<int> c(20);
  int size = 8;
  growing(0, &size, c.data());
  for (int i = 0; i < 20; i++)
    if (c[i] != (i < 8))
      return 1;
  size = 8;
  growing(count > 2 ? atoi(arguments[2]) : -3, &size, c.data());
  for (int i = 0; i < 20; i++)
    if (c[i] != (i < 5 ? 2 : i < 8))
      return 1;
}
