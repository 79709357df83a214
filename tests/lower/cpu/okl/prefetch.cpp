// Short rows of blocks are fetched ahead, once for each line of memory; what the processor follows by itself, or what later
// blocks do not go on with, is not.
// RUN: clang++-22 -std=c++17 -O2 -fno-vectorize -fno-slp-vectorize -fno-unroll-loops -fpass-plugin=%plugin -S -emit-llvm %s -o %t.ll && FileCheck %s < %t.ll
// Once is enough.
// RUN: opt-22 -load-pass-plugin=%plugin -passes=okl-prefetch -S %t.ll -o - | FileCheck %s
// Vectors of work items are as wide as they were.
// RUN: clang++-22 -std=c++17 -O3 -mavx2 -fno-math-errno -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck --check-prefix=FAST %s
#include "okl.h"

// Rows of 16 numbers of a matrix: a line of 64 bytes each, of three blocks further along.
// FAST-LABEL:  define internal void @tiles.omp_outlined(
// FAST:        call void @llvm.prefetch
// FAST:        load <8 x float>
// CHECK-LABEL: define internal void @tiles.omp_outlined(
// CHECK:       [[A:%.*]] = getelementptr i8, ptr {{.*}}, i64 192
// CHECK:       call void @llvm.prefetch.p0(ptr {{.*}}[[A]], i32 0, i32 3, i32 1)
// CHECK-NOT:   prefetch
// CHECK:       call void @llvm.prefetch.p0(ptr {{.*}}, i32 1, i32 3, i32 1)
// CHECK-NOT:   prefetch
// CHECK:       {{^}$}}
KERNEL void tiles(int n, const float *__restrict a, float *__restrict b) {
  for (OUTER int by = 0; by < n; by += 16)
    for (OUTER int bx = 0; bx < n; bx += 16) {
      // Variables of the block, which is in the cache.
      SHARED float s[16][18];
      for (INNER int y = 0; y < 16; ++y)
        for (INNER int x = 0; x < 16; ++x)
          s[y][x + 1] = 2 * a[(by + y) * n + bx + x];
      for (INNER int y = 0; y < 16; ++y)
        for (INNER int x = 0; x < 16; ++x)
          b[(by + y) * n + bx + x] = s[y][x] + s[y][x + 2];
    }
}

// Nobody counts blocks by a division here, and they go down.
// CHECK-LABEL: define internal void @down.omp_outlined(
// CHECK:       getelementptr i8, ptr {{.*}}, i64 -192
// CHECK:       call void @llvm.prefetch
// CHECK-NOT:   prefetch
// CHECK:       {{^}$}}
KERNEL void down(float *a) {
  for (OUTER int bx = 4080; bx >= 0; bx -= 16)
    for (INNER int y = 0; y < 16; ++y)
      for (INNER int x = 0; x < 16; ++x)
        a[y * 4096 + bx + x] *= 2;
}

// Two lines for each row; that it is read need not be said where it is written. The numbers of blocks are constant.
// CHECK-LABEL: define internal void @wide.omp_outlined(
// CHECK:       call void @llvm.prefetch.p0(ptr {{.*}}, i32 1, i32 3, i32 1)
// CHECK:       call void @llvm.prefetch.p0(ptr {{.*}}, i32 1, i32 3, i32 1)
// CHECK-NOT:   prefetch
// CHECK:       {{^}$}}
KERNEL void wide(double *a) {
  for (OUTER int by = 0; by < 4096; by += 16)
    for (OUTER int bx = 0; bx < 4096; bx += 16)
      for (INNER int y = 0; y < 16; ++y)
        for (INNER int x = 0; x < 16; ++x)
          a[(by + y) * 4096 + bx + x] += 1;
}

// What is left and right of it, and the rows above, are fetched for other items: only the lowest row is fetched.
// CHECK-LABEL: define internal void @stencil.omp_outlined(
// CHECK:       call void @llvm.prefetch.p0(ptr {{.*}}, i32 {{[01]}}, i32 3, i32 1)
// CHECK:       call void @llvm.prefetch.p0(ptr {{.*}}, i32 {{[01]}}, i32 3, i32 1)
// CHECK-NOT:   prefetch
// CHECK:       {{^}$}}
KERNEL void stencil(int n, const float *__restrict u, float *__restrict v) {
  for (OUTER int by = 0; by < n; by += 16)
    for (OUTER int bx = 0; bx < n; bx += 16)
      for (INNER int y = 0; y < 16; ++y)
        for (INNER int x = 0; x < 16; ++x) {
          const int at = (by + y + 1) * (n + 2) + bx + x + 1;
          v[at] = u[at] + u[at - 1] + u[at + 1] + u[at - (n + 2)] + u[at + (n + 2)];
        }
}

// In three directions.
// CHECK-LABEL: define internal void @box.omp_outlined(
// CHECK:       call void @llvm.prefetch.p0(ptr {{.*}}, i32 1, i32 3, i32 1)
// CHECK-NOT:   prefetch
// CHECK:       {{^}$}}
KERNEL void box(int n, double *a) {
  for (OUTER int bz = 0; bz < n; bz += 8)
    for (OUTER int by = 0; by < n; by += 8)
      for (OUTER int bx = 0; bx < n; bx += 8)
        for (INNER int z = 0; z < 8; ++z)
          for (INNER int y = 0; y < 8; ++y)
            for (INNER int x = 0; x < 8; ++x)
              a[((bz + z) * n + by + y) * n + bx + x] += 1;
}

// A regular loop goes on with the rows of the first matrix, and leaves those of the other one, of which the next tile is
// elsewhere. LLVM copies both.
// CHECK-LABEL: define internal void @product.omp_outlined(
// CHECK:       call void @llvm.prefetch.p0(ptr {{.*}}, i32 0, i32 3, i32 1)
// CHECK-NOT:   prefetch
// CHECK:       {{^}$}}
KERNEL void product(int n, const float *__restrict a, const float *__restrict b, float *__restrict c) {
  for (OUTER int by = 0; by < n; by += 16)
    for (OUTER int bx = 0; bx < n; bx += 16) {
      SHARED float sa[16][16], sb[16][16];
      for (int k = 0; k < n; k += 16) {
        for (INNER int y = 0; y < 16; ++y)
          for (INNER int x = 0; x < 16; ++x) {
            sa[y][x] = a[(by + y) * n + k + x];
            sb[y][x] = b[(k + y) * n + bx + x];
          }
        for (INNER int y = 0; y < 16; ++y)
          for (INNER int x = 0; x < 16; ++x)
            if (sa[y][x] > sb[x][y])
              c[n] = 1;
      }
    }
}

// The next block's columns are elsewhere: what is read is fetched, what is written is not.
// CHECK-LABEL: define internal void @transpose.omp_outlined(
// CHECK:       call void @llvm.prefetch.p0(ptr {{.*}}, i32 0, i32 3, i32 1)
// CHECK-NOT:   prefetch
// CHECK:       {{^}$}}
KERNEL void transpose(int n, const float *__restrict a, float *__restrict b) {
  for (OUTER int by = 0; by < n; by += 16)
    for (OUTER int bx = 0; bx < n; bx += 16) {
      SHARED float s[16][17];
      for (INNER int y = 0; y < 16; ++y)
        for (INNER int x = 0; x < 16; ++x)
          s[y][x] = a[(by + y) * n + bx + x];
      for (INNER int y = 0; y < 16; ++y)
        for (INNER int x = 0; x < 16; ++x)
          b[(bx + y) * n + by + x] = s[x][y];
    }
}

// Nothing of what follows is fetched.
// CHECK-NOT:   call void @llvm.prefetch

// Rows side by side: one long piece of memory.
KERNEL void elements(int n, const float *__restrict a, float *__restrict b) {
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int y = 0; y < 16; ++y)
      for (INNER int x = 0; x < 16; ++x)
        b[(o * 16 + y) * 16 + x] = 2 * a[(o * 16 + y) * 16 + x];
}

// One row in a block: so are blocks.
KERNEL void vectors(int n, float *a) {
  for (OUTER int o = 0; o < n; o += 16)
    for (INNER int i = 0; i < 16; ++i)
      a[o + i] *= 2;
}

// Long rows.
KERNEL void rows(int n, float *a) {
  for (OUTER int by = 0; by < n; by += 4)
    for (OUTER int bx = 0; bx < n; bx += 128)
      for (INNER int y = 0; y < 4; ++y)
        for (INNER int x = 0; x < 128; ++x)
          a[(by + y) * n + bx + x] *= 2;
}

// Rows of which nobody knows how long they are.
KERNEL void some(int n, int m, float *a) {
  for (OUTER int by = 0; by < n; by += 16)
    for (OUTER int bx = 0; bx < n; bx += m)
      for (INNER int y = 0; y < 16; ++y)
        for (INNER int x = 0; x < m; ++x)
          a[(by + y) * n + bx + x] *= 2;
}

// Rows that are in a list, and blocks that are.
KERNEL void lists(int n, const int *__restrict list, float *__restrict a, float *__restrict b) {
  for (OUTER int by = 0; by < n; by += 16)
    for (OUTER int bx = 0; bx < n; bx += 16)
      for (INNER int y = 0; y < 16; ++y)
        for (INNER int x = 0; x < 16; ++x) {
          a[list[by + y] + bx + x] *= 2;
          b[y * n + list[bx] + x] *= 2;
        }
}

// Numbers that are not side by side.
KERNEL void columns(int n, float *a) {
  for (OUTER int by = 0; by < n; by += 16)
    for (OUTER int bx = 0; bx < n; bx += 16)
      for (INNER int y = 0; y < 16; ++y)
        for (INNER int x = 0; x < 16; ++x)
          a[((by + y) * n + bx + x) * 3] *= 2;
}

// Only some of the items read what is in the row.
KERNEL void few(int n, const float *__restrict a, float *__restrict b) {
  for (OUTER int by = 0; by < n; by += 16)
    for (OUTER int bx = 0; bx < n; bx += 16)
      for (INNER int y = 0; y < 16; ++y)
        for (INNER int x = 0; x < 16; ++x)
          if (b[y * 16 + x] > 0)
            b[y * 16 + x] += a[(by + y) * n + bx + x];
}

// Short code is asked for.
KERNEL __attribute__((minsize)) void small(int n, float *a) {
  for (OUTER int by = 0; by < n; by += 16)
    for (OUTER int bx = 0; bx < n; bx += 16)
      for (INNER int y = 0; y < 16; ++y)
        for (INNER int x = 0; x < 16; ++x)
          a[(by + y) * n + bx + x] *= 2;
}

// These are no work items.
extern "C" void plain(int n, float *a) {
  for (int by = 0; by < n; by += 16)
    for (int bx = 0; bx < n; bx += 16)
      for (int y = 0; y < 16; ++y)
        for (int x = 0; x < 16; ++x)
          a[(by + y) * n + bx + x] *= 2;
}
// CHECK:       declare void @llvm.prefetch
