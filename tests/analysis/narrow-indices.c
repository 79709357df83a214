// Indices computed in narrow types: exact where they do not overflow, which is checked at run time; what
// rounds has a hull.
// RUN: clang-22 -O2 -g -fopenmp -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-accesses>' -disable-output %t.ll 2>&1 | FileCheck %s
enum { N = 600 };
double a[N][N], x[N], y[N];

void collapsed(void) {
// CHECK: region at {{.*}}narrow-indices.c:[[@LINE+2]]: complete
// CHECK: write a [(1 + ((-1 * .omp.iv) + min(359999, .omp.ub))) x 8] of 8 bytes at ((8 * .omp.iv) + a)
#pragma omp parallel for collapse(2)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      a[i][j] = 1;
}

void halves(void) {
// CHECK: region at {{.*}}narrow-indices.c:[[@LINE+3]]: complete
// CHECK-DAG: read bound x [{{.*}} x 8] of 8 bytes at ((8 * (.omp.iv / 2)) + x)
// CHECK-DAG: write y [{{.*}} x 8] of 8 bytes at ((8 * .omp.iv) + y)
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    y[i] = x[i / 2];
}

void rows(int width, double *m) {
// CHECK: region at {{.*}}narrow-indices.c:[[@LINE+2]]: complete
// CHECK: write m [{{.*}} x (8 * width)] [width x 8] of 8 bytes at ((8 * width * .omp.iv) + m)
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    for (int j = 0; j < width; j++)
      m[i * width + j] = 2;
}

// What wraps around has no section but its hull.
void scattered(void) {
// CHECK: region at {{.*}}narrow-indices.c:[[@LINE+2]]: complete
// CHECK: write may bound y [{{.*}} x 1] of 8 bytes
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    y[i * 7 % N] = i;
}

// A mask is a remainder: its values are known whatever it is taken of.
void masked(int first) {
// CHECK: region at {{.*}}narrow-indices.c:[[@LINE+3]]: complete
// CHECK-DAG: read bound x of 64 bytes at x
// CHECK-DAG: write y
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    y[i] = x[(first + i) & 7];
}
