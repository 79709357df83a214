// okl.hpp, OKL in plain C++: with the plugin kernels are OKL, without it they are their loops, also for g++.
//
// RUN: for level in -O0 "-O3 -g" "-O1 -std=c++14" "-O2 -std=c++23"; do %okl-c++ -Wall -Wextra -pedantic -Wconversion -Werror -DPLUGIN $level %s -o %t && %t || exit 1; done | FileCheck --check-prefixes=CHECK,PLUGIN %s
// RUN: clang++-22 -fopenmp -O1 -Wall -Werror -DPLUGIN -fpass-plugin=%plugin -I %S/../../../runtime-shims/okl/include %s -L%runtime-dir -lokl_cpu -Wl,-rpath,%runtime-dir -o %t && %t | FileCheck --check-prefixes=CHECK,PLUGIN %s
// RUN: for compiler in clang++-22 g++; do $compiler -O1 -std=c++14 -Wall -Wextra -pedantic -Wconversion -Werror -I %S/../../../runtime-shims/okl/include %s -o %t && %t || exit 1; done | FileCheck %s
// Both spellings in one file.
// RUN: cp %s %t.okl && echo '@kernel void text(int *a) { @outer for (int i = 0; i < 2; ++i) @inner for (int j = 0; j < 4; ++j) { a[j] = i; @barrier; @atomic a[j] += 1; } }' >>%t.okl && %okl-c++ -Wall -Werror -DPLUGIN %t.okl -o %t && %t | FileCheck --check-prefixes=CHECK,PLUGIN %s
//
// What is wrong with kernels is said as of OKL; what only looks like one number is the wrong number of indices.
// RUN: (%okl-c++ -DWRONG_LOOP -g -c %s -o %t.o 2>&1 || true) | FileCheck --check-prefix=LOOP %s
// LOOP: header.cpp:[[@LINE+16]]:{{[0-9]+}}: error: this @inner loop is outside of any @outer loop
// RUN: (%okl-c++ -DWRONG_INDEX -c %s -o %t.o 2>&1 || true) | FileCheck --check-prefix=INDEX %s
// INDEX: error: {{.*}}as many indices as sizes
// RUN: clang++-22 -DTILE -I %S/../../../runtime-shims/okl/include -S -emit-llvm %s -o - | FileCheck --check-prefix=TILE %s
// TILE-DAG: [[TILE:@.*]] = {{.*}} c"okl.tile\00"
// TILE-DAG: [[ARGUMENTS:@.*]] = {{.*}} { i32, ptr, i32, ptr, i32, i32 } { i32 16, ptr [[OUTER:@.*]], i32 1, ptr [[REGULAR:@.*]], i32 -1, i32 1 }
// TILE-DAG: [[OUTER]] = {{.*}} c"outer\00"
// TILE-DAG: [[REGULAR]] = {{.*}} c"regular\00"
// TILE: call void @llvm.var.annotation.p0.p0(ptr %{{[0-9a-z]+}}, ptr [[TILE]], {{.*}}, ptr [[ARGUMENTS]])
// A tile has one size, in one of the two places.
// RUN: (%okl-c++ -DWRONG_SIZE -g -c %s -o %t.o 2>&1 || true) | FileCheck --check-prefix=SIZE --implicit-check-not=error: %s
// SIZE-DAG: header.cpp:[[@LINE+15]]:{{[0-9]+}}: error: this @tile has two sizes
// SIZE-DAG: header.cpp:[[@LINE+17]]:{{[0-9]+}}: error: the size of a @tile is a positive number
#include <okl.hpp>
#ifdef WRONG_LOOP
OKL_KERNEL void wrong(int *a) {
  for (OKL_INNER() int i = 0; i < 4; ++i) a[i] = 0;
}
#endif
#ifdef TILE
OKL_KERNEL void tiles(int *a) {
  for (OKL_TILE(16, OKL_AS_OUTER(1), OKL_AS_LOOP()) int i = 0; i < 64; ++i) a[i] = 0;
}
#endif
#ifdef WRONG_SIZE
OKL_KERNEL void two_sizes(int n, int *a) {
  for (OKL_TILE(16, OKL_AS_OUTER(), OKL_AS_INNER()) int i = OKL_TILE_SIZE(n, 0); i < n; ++i) a[i] = 0;
}
OKL_KERNEL void no_size(int n, int *a) {
  for (OKL_TILE(OKL_COMPUTED, OKL_AS_OUTER(), OKL_AS_INNER()) int i = 0; i < n; ++i) a[i] = 0;
}
#endif
#include <cstdio>

OKL_KERNEL void reverse(int n, const float *OKL_RESTRICT a, float *OKL_RESTRICT b) {
  for (OKL_OUTER() OKL_MAX_INNER_DIMS(8) OKL_SIMD_LENGTH(8) int i = 0; i < n; i += 8) {
    OKL_SHARED float s[8];
    for (OKL_INNER() int j = 0; j < 8; ++j) s[j] = a[i + j];
    for (OKL_INNER(0) OKL_NOBARRIER int j = 0; j < 8; ++j) b[i + j] = s[7 - j];
  }
}

template <class T> OKL_KERNEL void sum(int n, const T *a, T *total, T *count) {
  for (OKL_OUTER(1) int k = 0; k < 1; ++k)
    for (OKL_OUTER(0) int i = 0; i < n; i += 8)
      for (OKL_INNER() int j = 0; j < 8; ++j) {
        OKL_ATOMIC(*total += a[i + j]);
        OKL_ATOMIC_BLOCK(++*count; ++*count);
      }
}

OKL_KERNEL void transpose(const float *a, float *b) {
  const auto from = okl::dim<4, 2>(a);
  for (OKL_OUTER() int i = 0; i < 4; i++)
    for (OKL_INNER() int j = 0; j < 2; ++j) okl::dim<2, 4>(b)(j, i) = from(i, j);
#ifdef WRONG_INDEX
  b[0] = from(1);
#endif
}

template <class T> OKL_KERNEL void blocks(T size, long n, int *a) {
  for (OKL_TILE(OKL_COMPUTED, OKL_AS_OUTER(), OKL_AS_INNER(0)) long i = OKL_TILE_SIZE(size, n - 1); i > 0; i -= 2)
    OKL_ATOMIC(a[i] += static_cast<int>(i));
  for (OKL_TILE(OKL_COMPUTED, OKL_AS_OUTER(1), OKL_AS_INNER(1)) int i = OKL_TILE_SIZE(size + size, 0); i < n; ++i)
    for (OKL_TILE(OKL_COMPUTED, OKL_AS_OUTER(0), OKL_AS_INNER(0)) long j = OKL_TILE_SIZE(size, 0L); j < 3; ++j)
      OKL_ATOMIC(a[i] += 100);
}

#ifdef PLUGIN
OKL_KERNEL void barriers(float *a) {
  for (OKL_OUTER() int i = 0; i < 2; i++) {
    OKL_SHARED float s[8];
    OKL_EXCLUSIVE float old;
    for (OKL_INNER() int j = 0; j < 8; ++j) {
      s[j] = a[8 * i + j];
      okl::barrier();
      a[8 * i + j] = s[7 - j];
      okl::barrier(okl::warp);
      old = 100 * s[j];
    }
    for (OKL_INNER() int j = 0; j < 8; ++j) a[8 * i + j] += old;
  }
}
#endif

static void print(int n, const float *a) {
  for (int i = 0; i < n; i++) printf("%g ", static_cast<double>(a[i]));
  puts("");
}

int main() {
  float a[16], b[16], total = 0, count = 0;
  for (int i = 0; i < 16; ++i) a[i] = static_cast<float>(i);
  // CHECK: 7 6 5 4 3 2 1 0 15 14 13 12 11 10 9 8
  reverse(16, a, b);
  print(16, b);
  // CHECK-NEXT: 120 32
  sum(16, a, &total, &count);
  printf("%g %g\n", static_cast<double>(total), static_cast<double>(count));
  // CHECK-NEXT: 0 4 1 5 2 6 3 7
  transpose(a, b);
  print(8, b);
  // CHECK-NEXT: 300 301 300 303 300 305 300 307 300 309
  int c[10] = {};
  blocks(4u, 10, c);
  for (int one : c) printf("%d ", one);
  puts("");
#ifdef PLUGIN
  // PLUGIN-NEXT: 7 106 205 304 403 502 601 700 815 914 1013 1112 1211 1310 1409 1508
  barriers(a);
  print(16, a);
#endif
}
