// What a function is handed, and what variables of the file hold that it reads, is known where it is called: it may write
// anywhere in arrays of the thread's own, and reads through pointers that nothing changes meanwhile.
// RUN: clang-22 -O2 -g -fopenmp -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-accesses>' -disable-output %t.ll 2>&1 | FileCheck %s
#include <stdlib.h>

enum { N = 512, M = 64 };
static double *roots, *shifted;
static int extent;
double a[N][M], b[N][M], shared[M];

// It writes where cannot be told, in what it is handed.
__attribute__((noinline)) static void butterflies(int level, const double *from, double *to) {
  int half = 1 << (level - 1);
  for (int i = 0; i < M / 2 / half; i++)
    for (int k = 0; k < half; k++) {
      to[2 * i * half + k] = from[i * half + k] + roots[half + i];
      to[(2 * i + 1) * half + k] = from[i * half + k + M / 2] - roots[half + i];
    }
}

__attribute__((noinline)) static void transform(const double *from, double *to, double *work) {
  for (int i = 0; i < M; i++) work[i] = from[i];
  for (int level = 1; level <= 5; level += 2) {
    butterflies(level, work, to);
    butterflies(level + 1, to, work);
  }
  for (int i = 0; i < M; i++) to[i] = work[i];
}

// CHECK: region at {{.*}}handed-over.c:[[@LINE+6]]: complete
// CHECK-NOT: tracked
// CHECK-DAG: read a [
// CHECK-DAG: read anywhere roots
// CHECK-DAG: write b [
void own(void) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    double to[M], work[M];
    transform(a[i], to, work);
    for (int j = 0; j < M; j++) b[i][j] = to[j];
  }
}

// What all threads share is not the thread's own.
// CHECK: region at {{.*}}handed-over.c:[[@LINE+2]]: tracked, it writes where cannot be told before the loop
void others(void) {
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    butterflies(i % 5 + 1, a[i], shared);
}

__attribute__((noinline)) static void shift(double *row) {
  for (int j = 0; j < extent; j++) row[j] += shifted[j];
}

// CHECK: region at {{.*}}handed-over.c:[[@LINE+6]]: complete
// CHECK-NOT: tracked
// CHECK-DAG: read shifted [
// CHECK-DAG: read a [
// CHECK-DAG: write a [
void globals(void) {
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    shift(a[i]);
}

// The pointer changes in the loop.
// CHECK: region at {{.*}}handed-over.c:[[@LINE+2]]: complete but for reads
void changing(void) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    shift(a[i]);
    shifted++;
  }
}

int main(void) {
  roots = calloc(2 * M, sizeof *roots);
  shifted = calloc(2 * M, sizeof *shifted);
  extent = M;
  own();
  others();
  globals();
  changing();
}
