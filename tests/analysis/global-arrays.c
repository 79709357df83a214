// Two-dimensional global arrays, and one region around a loop over time: each sweep is a nest.
// RUN: clang-22 -O2 -g -fopenmp -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-accesses>' -disable-output %t.ll 2>&1 | FileCheck %s
enum { N = 1000 };
double u[N][N], v[N][N], largest;

// CHECK:      region at {{.*}}global-arrays.c:[[@LINE+11]]: complete
// CHECK-NEXT:   direct steps+0, 4 bytes
// CHECK-NEXT:   nest {{.*}}global-arrays.c:[[@LINE+14]]
// CHECK-DAG:      read u [({{.*}}min(997, .omp.ub){{.*}}) x 8000] of 23984 bytes at (8 + (8000 * .omp.iv) + u)
// CHECK-DAG:      write v [({{.*}}min(997, .omp.ub){{.*}}) x 8000] of 7984 bytes at (8008 + (8000 * .omp.iv) + v)
// CHECK-NOT:  {{read|write}}
// CHECK:        nest {{.*}}global-arrays.c:[[@LINE+14]]
// CHECK-DAG:      read v [({{.*}}min(997, .omp.ub){{.*}}) x 8000] of 7984 bytes at (8008 + (8000 * .omp.iv) + v)
// CHECK-DAG:      write u [({{.*}}min(997, .omp.ub){{.*}}) x 8000] of 7984 bytes at (8008 + (8000 * .omp.iv) + u)
// CHECK-NOT:  {{read|write}}
void sweeps(int steps) {
#pragma omp parallel
  for (int t = 0; t < steps; t++) {
#pragma omp for
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] + u[i][j]);
#pragma omp for
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        u[i][j] = v[i][j];
  }
}
