// Reads between bounds that the nest loads: between the least and the largest of what is computed from the
// numbers in tables, instead of anywhere in the object.
// RUN: clang-22 -O2 -g -fopenmp -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-accesses>' -disable-output %t.ll 2>&1 | FileCheck %s

#include <math.h>

// CHECK: region at {{.*}}loaded-bounds.c:[[@LINE+5]]: complete
// CHECK: read between value (8 * t0) and (-8 + 8 * t1) of 8 bytes, t0 in [{{.*}} x 4] at ((4 * .omp.iv) + start), t1 in [{{.*}} x 4] at (4 + (4 * .omp.iv) + start)
// CHECK: read between column (4 * t0) and (-4 + 4 * t1) of 4 bytes
// CHECK: read between x (8 * t2) of 8 bytes, t0 in [{{.*}} x 4] at ((4 * .omp.iv) + start), t1 in [{{.*}} x 4] at (4 + (4 * .omp.iv) + start), t2 between (4 * t0) and (-4 + 4 * t1) of 4 bytes
void rows(int n, const int *start, const int *column, const double *value, const double *x, double *y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = start[i]; k < start[i + 1]; k++) sum += value[k] * x[column[k]];
    y[i] = sum;
  }
}

// Two tables; and an order of rows, which says where the bounds are.
// CHECK: region at {{.*}}loaded-bounds.c:[[@LINE+6]]: complete
// CHECK: read between value (8 * t0) and (-8 + 8 * t1) of 8 bytes, t0 in [{{.*}} x 8] at ((8 * .omp.iv) + from), t1 in [{{.*}} x 8] at ((8 * .omp.iv) + to)
// CHECK: region at {{.*}}loaded-bounds.c:[[@LINE+12]]: complete
// CHECK: read between start (8 * t0) of 16 bytes, t0 in [{{.*}} x 4] at ((4 * .omp.iv) + order)
// CHECK: read between value (8 * t1) and (-8 + 8 * t2) of 8 bytes, t0 in [{{.*}} x 4] at ((4 * .omp.iv) + order), t1 between (8 * t0) of 8 bytes, t2 between (8 + 8 * t0) of 8 bytes
void from_to(int n, const long *from, const long *to, const double *value, double *y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (long k = from[i]; k < to[i]; k++) sum += value[k];
    y[i] = sum;
  }
}
void ordered(int n, const int *order, const long *start, const double *value, double *y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (long k = start[order[i]]; k < start[order[i] + 1]; k++) sum += value[k];
    y[i] = sum;
  }
}

// What lies a constant distance apart is one part.
// CHECK: region at {{.*}}loaded-bounds.c:[[@LINE+4]]: complete
// CHECK: read between value (72 * t0) and (-72 + 72 * t1) of 72 bytes
// CHECK-NOT: read {{anywhere|between}} value
void blocks(int n, const int *start, const double *value, double *y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = start[i]; k < start[i + 1]; k++)
      for (int c = 0; c < 9; c++) sum += value[k * 9 + c];
    y[i] = sum;
  }
}

// What a function stores that is called there is declared, too, and one of mathematics stores an error's number at most.
// CHECK: region at {{.*}}loaded-bounds.c:[[@LINE+7]]: complete
// CHECK: read between x (8 * t0) of 8 bytes, t0 in [{{.*}} x 4] at ((4 * .omp.iv) + node)
__attribute__((noinline)) static double weighed(const double *own, double *sum) {
  for (int i = 0; i < 3; i++) sum[i] = own[i] * i;
  return sum[2];
}
void called(int n, const int *node, const double *x, double *y, double *sums) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double own[3] = {x[node[i]], 1, 2};
    y[i] = sqrt(weighed(own, sums + 3 * i));
  }
}

// A table that is updated meanwhile is none.
// CHECK: region at {{.*}}loaded-bounds.c:[[@LINE+4]]: complete
// CHECK-NOT: between
// CHECK: read anywhere value
void updated(int n, int *start, const double *value, double *y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double sum = 0;
#pragma omp atomic
    start[n - i]++;
    for (int k = start[i]; k < start[i + 1]; k++) sum += value[k];
    y[i] = sum;
  }
}

// The number of a bucket's elements is a difference of numbers with a sign.
// CHECK: region at {{.*}}loaded-bounds.c:[[@LINE+3]]: complete
// CHECK: read between value (8 * t0) and (-8 + 8 * t1) of 8 bytes
void buckets(int n, const int *start, const double *value, double *y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    const double *mine = value + start[i];
    int count = start[i + 1] - start[i];
    double sum = 0;
    for (int k = 0; k < count; k++) sum += mine[k];
    y[i] = sum;
  }
}

// The same where another comparison than that with zero says that there are any.
// CHECK: region at {{.*}}loaded-bounds.c:[[@LINE+3]]: complete
// CHECK: read between value (8 * t0) and (-8 + 8 * t1) of 8 bytes
void compared(int n, const int *start, const double *value, double *y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    if (start[i + 1] <= start[i]) continue;
    double sum = 0;
    for (unsigned k = 0; k < (unsigned)start[i + 1] - start[i]; k++) sum += value[(long)start[i] + k];
    y[i] = sum;
  }
}

// A difference of numbers without a sign may wrap around.
// CHECK: region at {{.*}}loaded-bounds.c:[[@LINE+4]]: complete
// CHECK-NOT: between
// CHECK: read anywhere value
void wrapping(int n, const unsigned *start, const double *value, double *y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    const double *mine = value + start[i];
    unsigned count = start[i + 1] - start[i];
    double sum = 0;
    for (unsigned k = 0; k < count; k++) sum += mine[k];
    y[i] = sum;
  }
}
