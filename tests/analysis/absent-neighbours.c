// Numbers that say that there is nothing to read, such as -1 for no neighbour, count for nothing in what lies between the least
// and the largest of a table.
// RUN: clang-22 -O2 -g -fopenmp -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-accesses>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK: region at {{.*}}absent-neighbours.c:[[@LINE+3]]: complete
// CHECK: read between x (8 * t0) of 8 bytes, t0 but negative ones in [{{.*}} x 4] at ((4 * .omp.iv) + near)
void guarded(int n, const int *near, const double *x, double *y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    if (near[i] >= 0) y[i] = x[near[i]];
}

// Elements of several neighbours each, counted in a narrow type, of which LLVM knows that their lowest bits are zero.
// CHECK: region at {{.*}}absent-neighbours.c:[[@LINE+5]]: complete
// CHECK: read between x (8 * t0) of 8 bytes, t0 but -1 in [{{.*}} x 16] at ((16 * .omp.iv) + near)
// CHECK: read between x (8 * t0) of 8 bytes, t0 but -1 in [{{.*}} x 16] at (4 + (16 * .omp.iv) + near)
// CHECK: read near [{{.*}} x 16] of 16 bytes at ((16 * .omp.iv) + near)
void elements(int n, const int *near, const double *x, double *y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int side = 0; side < 4; side++) {
      int other = near[4 * i + side];
      sum += other != -1 ? x[other] : 1;
    }
    y[i] = sum;
  }
}

// Numbers from 1 on.
// CHECK: region at {{.*}}absent-neighbours.c:[[@LINE+7]]: complete
// CHECK: read between x (-8 + 8 * t0) of 8 bytes, t0 but negative ones but 0 in [{{.*}} x 4] at ((4 * .omp.iv) + near)
// CHECK: region at {{.*}}absent-neighbours.c:[[@LINE+12]]: complete
// CHECK: read between x (-8 + 8 * t0) of 8 bytes, t0 but 0 in [{{.*}} x 8] at ((8 * .omp.iv) + near)
// CHECK: region at {{.*}}absent-neighbours.c:[[@LINE+16]]: complete
// CHECK: read between x (8 * t0) of 8 bytes, t0 in [{{.*}} x 4] at ((4 * .omp.iv) + near)
void from_one(int n, const int *near, const double *x, double *y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    if (near[i] <= 0) continue;
    y[i] = x[near[i] - 1];
  }
}
void from_one_of_64_bits(int n, const unsigned long *near, const double *x, double *y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    if (near[i]) y[i] = x[near[i] - 1];
}
// A condition on the number of another element says nothing.
void of_another(int n, const int *near, const double *x, double *y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    if (near[i + 1] >= 0) y[i] = x[near[i]];
}

// One number for planes of an array that lie behind each other: the sums are of a narrow type.
// CHECK: region at {{.*}}absent-neighbours.c:[[@LINE+4]]: complete
// CHECK: read between x (8 * t0) of 8 bytes, t0 but negative ones in
// CHECK: read between x ((8 * n) + 8 * t0) of 8 bytes, t0 but negative ones in
void planes(int n, const int *near, const double *x, double *y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    if (near[i] >= 0) y[i] = x[near[i]] + x[near[i] + n];
}

// A number with zeros in front is never negative, whatever it is in the table.
// CHECK: region at {{.*}}absent-neighbours.c:[[@LINE+3]]: complete
// CHECK: read bound x of 524288 bytes at x
void of_16_bits(int n, const unsigned short *near, const double *x, double *y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    int other = near[i];
    if (other != -1 && other > -1) y[i] = x[other];
  }
}
