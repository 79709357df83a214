// Rows behind pointers that the loop loads itself: a section for each pointer of a section of the table.
// RUN: clang-22 -O2 -g -fopenmp -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-accesses>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK: region at {{.*}}rows.c:[[@LINE+5]]: complete
// CHECK: nest
// CHECK-NEXT: read a {{.*}} of 8 bytes at ((8 * .omp.{{iv|lb}}) + a)
// CHECK-NEXT: write a [m x 8] of 8 bytes at 0 from each pointer in {{.*}} at ((8 * .omp.{{iv|lb}}) + a)
void fill(double **a, int n, int m) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) a[i][j] = j;
}

// LLVM keeps the rows that it has loaded for the next turn.
// CHECK: region at {{.*}}rows.c:[[@LINE+4]]: complete
// CHECK: write to [(-1 + (-1 + m)) x 8] of 8 bytes at 8 from each pointer in {{.*}} to)
void smooth(double **to, double **from, int n, int m) {
  if (m > 2)
#pragma omp parallel for
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++) to[i][j] = from[i - 1][j] + from[i + 1][j] + from[i][j - 1];
}

// Planes of rows: a table of tables.
// CHECK: region at {{.*}}rows.c:[[@LINE+5]]: complete
// CHECK: read u [
// CHECK-NEXT: read {{.*}} of 8 bytes at 0 from each pointer in [{{.*}} x 8] at {{.*}}u)
// CHECK-NEXT: write u [l x 8] of 8 bytes at 0 from each pointer in [m x 8] at 0 from each pointer in [{{.*}} x 8] at {{.*}}u)
void cube(double ***u, int n, int m, int l) {
#pragma omp parallel for
  for (int k = 0; k < n; k++)
    for (int i = 0; i < m; i++)
      for (int j = 0; j < l; j++) u[k][i][j] = j;
}

// Rows of different lengths are not all written.
// CHECK: region at {{.*}}rows.c:[[@LINE+3]]: complete
// CHECK: write may bound a {{.*}} from each pointer in
void triangle(double **a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) a[i][j] = 1;
}

// Numbers of the type of pointers may be the pointers.
// CHECK: region at {{.*}}rows.c:[[@LINE+2]]: tracked
void of_pointers(void ***a, int n, int m) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) a[i][j] = 0;
}

// What is read behind each pointer may differ in a loop around that of the pointers.
// CHECK: region at {{.*}}rows.c:[[@LINE+5]]: complete
// CHECK: read counts [{{.*}} me x 8] of 8 bytes at counts
// CHECK-NEXT: read counts [{{.*}} (-1 + m) x 4] of 4 bytes at 4 from each pointer in [{{.*}} me x 8] at counts
int omp_get_thread_num(void);
void columns(int **counts, int *sums, int m) {
#pragma omp parallel
  {
    int me = omp_get_thread_num(), sum = 0;
    for (int j = 1; j < m; j++)
      for (int i = 0; i < me; i++) sum += counts[i][j];
    sums[me] = sum;
  }
}

// Rows from a variable on, counted in a type that may overflow: that is looked at when the nest is to run.
// CHECK: region at {{.*}}rows.c:[[@LINE+4]]: complete
// CHECK: read a [{{.*}} x 8] of 8 bytes at ((8 * (1 + k + .omp.iv)) + a)
// CHECK: write a [(n + (-1 * j)) x 8] of 8 bytes at (8 * j) from each pointer in [{{.*}} x 8] at ((8 * (1 + k + .omp.iv)) + a)
void eliminate(double **a, int n, int k) {
#pragma omp parallel for
  for (int i = k + 1; i < n; i++)
    for (int j = k; j < n; j++) a[i][j] -= a[i][k] * a[k][j];
}
