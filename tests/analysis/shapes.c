// Shapes of accesses, one region each.
// RUN: clang-22 -O2 -g -fopenmp -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-accesses>' -disable-output %t.ll 2>&1 | FileCheck %s
#include <string.h>

enum { N = 600 };
double a[N][N], b[N][N], c[N][N], x[N], y[N];
int rows[N + 1], columns[N];

void transpose(void) {
// CHECK: region at {{.*}}shapes.c:[[@LINE+3]]: complete
// CHECK-DAG: read a [({{.*}}) x 8] [600 x 4800] of 8 bytes at ((8 * .omp.iv) + a)
// CHECK-DAG: write b [({{.*}}) x 4800] of 4800 bytes at ((4800 * .omp.iv) + b)
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      b[i][j] = a[j][i];
}

void product(void) {
// CHECK: region at {{.*}}shapes.c:[[@LINE+4]]: complete
// CHECK-DAG: read a [({{.*}}) x 4800] of 4800 bytes
// CHECK-DAG: read b [600 x 8] [600 x 4800] of 8 bytes at b
// CHECK-DAG: write c [({{.*}}) x 4800] of 4800 bytes
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < N; k++)
        sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
}

// Rows that grow: a box around them, of which some may not be written.
void triangle(void) {
// CHECK: region at {{.*}}shapes.c:[[@LINE+2]]: complete
// CHECK-DAG: write may bound c [({{.*}}) x 4800] {{.*}} of 8 bytes at ((4800 * .omp.iv) + c)
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++)
      c[i][j] = 1;
}

// A sparse product: what is read by index lies between the least and the largest column of its rows, these between their
// bounds, and what is written is exact.
void gather(void) {
// CHECK: region at {{.*}}shapes.c:[[@LINE+4]]: complete
// CHECK-DAG: read between x (8 * t2) of 8 bytes, {{.*}}, t2 between (4 * t0) and (-4 + 4 * t1) of 4 bytes
// CHECK-DAG: read between columns
// CHECK-DAG: write y [({{.*}}) x 8] of 8 bytes at ((8 * .omp.iv) + y)
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    double sum = 0;
    for (int k = rows[i]; k < rows[i + 1]; k++)
      sum += x[columns[k]];
    y[i] = sum;
  }
}

// A condition that does not change counts; one that does makes the write uncertain.
void conditions(int some) {
// CHECK: region at {{.*}}shapes.c:[[@LINE+3]]: complete
// CHECK-DAG: write may bound x [({{.*}}) x 8] of 8 bytes
// CHECK-DAG: write y [({{.*}}) x 8] of 8 bytes
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    y[i] = i;
    if (rows[i])
      x[i] = some;
  }
}

// A function that is not inlined is described by its parameters.
__attribute__((noinline)) static void row(double *to, const double *from, int count) {
  for (int j = 0; j < count; j++)
    to[j] = from[j];
}
void calls(void) {
// CHECK: region at {{.*}}shapes.c:[[@LINE+3]]: complete
// CHECK-DAG: read a [({{.*}}) x 4800] of 4800 bytes
// CHECK-DAG: write b [({{.*}}) x 4800] of 4800 bytes
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    row(b[i], a[i], N);
}

void copies(int bytes) {
// CHECK: region at {{.*}}shapes.c:[[@LINE+3]]: complete
// CHECK-DAG: write c [({{.*}}) x 4800] [bytes x 1] of 1 bytes
// CHECK-DAG: read a [({{.*}}) x 4800] [bytes x 1] of 1 bytes
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    memcpy(c[i], a[i], bytes);
}
