// A loop that reads where it does not say, behind pointers that it loads as bounds, and says all else: pages serve these reads,
// and the region declares the rest. Where threads meet otherwise than at synchronisations all of its pages are tracked.
// RUN: clang-22 -O2 -g -fopenmp -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-accesses>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK: region at {{.*}}elsewhere.c:[[@LINE+5]]: complete but for reads ({{.*}}elsewhere.c:[[@LINE+8]])
// CHECK: nest
// CHECK: read {{.*}}index
// CHECK: write score [
void gather(int **index, float *contrib, float *score, int n) {
#pragma omp parallel for
  for (int u = 0; u < n; u++) {
    float sum = 0;
    for (int *at = index[u]; at < index[u + 1]; at++) sum += contrib[*at];
    score[u] = sum;
  }
}

// A function that does so, in the file's own regions.
static float sum_of(float *const *rows, const int *which, int u, int m) {
  float sum = 0;
  for (int j = 0; j < m; j++) sum += rows[which[u * m + j]][j];
  return sum;
}
// CHECK: region at {{.*}}elsewhere.c:[[@LINE+2]]: complete but for reads
void by_function(float *const *rows, const int *which, float *score, int n, int m) {
#pragma omp parallel for
  for (int u = 0; u < n; u++) score[u] = sum_of(rows, which, u, m);
}

// What is written there is not known.
// CHECK: region at {{.*}}elsewhere.c:[[@LINE+2]]: tracked, it writes to an object
void scatter(float **rows, int *which, int n) {
#pragma omp parallel for
  for (int u = 0; u < n; u++) rows[which[u]][0] = u;
}

// CHECK: region at {{.*}}elsewhere.c:[[@LINE+2]]: tracked, it reads from an object
void counted(int **index, float *contrib, float *score, int *count, int n) {
#pragma omp parallel for
  for (int u = 0; u < n; u++) {
    float sum = 0;
    for (int *at = index[u]; at < index[u + 1]; at++) sum += contrib[*at];
    score[u] = sum;
    if (sum > 1) {
#pragma omp atomic
      ++*count;
    }
  }
}
