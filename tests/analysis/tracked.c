// Regions that stay with the pages, and why.
// RUN: clang-22 -O2 -g -fopenmp -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-accesses>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -Rpass-missed=okl -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=REMARK
#include <stdio.h>
#include <string.h>

enum { N = 600 };
double x[N], y[N], *rows[N];
int map[N];
void unknown(double *);

// CHECK: region at {{.*}}tracked.c:[[@LINE+3]]: tracked, it writes where cannot be told before the loop ({{.*}}tracked.c:[[@LINE+5]])
// REMARK: tracked.c:[[@LINE+2]]:1: remark: pages of this region are tracked: it writes where cannot be told before the loop ({{.*}}tracked.c:[[@LINE+4]])
void scatter(int length) {
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    memcpy(&y[map[i]], &x[i], length);
}

// CHECK: region at {{.*}}tracked.c:[[@LINE+2]]: at once for {{.*}}tracked.c:[[@LINE+4]], tracked, it has a critical section
void guarded(void) {
#pragma omp parallel for
  for (int i = 0; i < N; i++)
#pragma omp critical
    y[0] = x[i] - y[0];
}

// CHECK: region at {{.*}}tracked.c:[[@LINE+3]]: complete but for
// CHECK-NEXT: tracked unless another file describes it, it calls unknown, which is not known here
void calls(void) {
#pragma omp parallel
  unknown(x);
}

// The rows trade places while the loop runs.
// CHECK: region at {{.*}}tracked.c:[[@LINE+2]]: tracked, it {{reads from|writes to}} an object that is not known before the loop
void row_pointers(void) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++)
      rows[i][j] = j;
    rows[i] = 0;
  }
}

// Which rows are accessed is known in the loop only.
// CHECK: region at {{.*}}tracked.c:[[@LINE+2]]: tracked, it {{reads from|writes to}} an object that is not known before the loop
void rows_of_a_map(void) {
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      rows[map[i]][j] = j;
}

// CHECK: region at {{.*}}tracked.c:[[@LINE+3]]: tracked, it accesses a volatile object
volatile double noted;
void notes(void) {
#pragma omp parallel
  noted = 1;
}

// CHECK: region at {{.*}}tracked.c:[[@LINE+3]]: tracked, it lets the address of a private variable escape
double *shared[64];
void leaks(int k) {
#pragma omp parallel
  {
    double own[4] = {k};
    shared[k] = own;
#pragma omp barrier
    x[k] = own[1];
  }
}

// The callee's copy is made in the call, which reads the shared structure.
// CHECK: region at {{.*}}tracked.c:[[@LINE+8]]: tracked, it passes a structure by value ({{.*}}tracked.c:[[@LINE+10]])
// REMARK: tracked.c:[[@LINE+7]]:1: remark: pages of this region are tracked: it passes a structure by value ({{.*}}tracked.c:[[@LINE+9]])
struct item {
  double value[5];
  long tag;
} items[N];
__attribute__((noinline)) double weigh(struct item one) { return one.value[0] + one.value[4] + one.tag; }
void weigh_all(void) {
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    x[i] = weigh(items[i]);
}
