// A loop behind another one, which may be skipped, is run whenever control gets in front of that one: what it writes is
// written for sure, if the conditions on the way there hold.
// RUN: clang-22 -O2 -g -fopenmp -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-accesses>' -disable-output %t.ll 2>&1 | FileCheck %s
double row[1000];

// CHECK: region at {{.*}}loops-in-a-row.c:[[@LINE+5]]: complete
// CHECK-NOT: write may
// CHECK: write to [{{.*}}if {{.*}} sgt 1]
// CHECK-NOT: write may
void twice(int rows, int columns, double (*to)[columns], double (*from)[columns]) {
#pragma omp parallel for
  for (int i = 0; i < rows; i++) {
    double sums[1000];
    for (int j = 0; j < columns; j++) sums[j] = from[i][j] + row[j];
    for (int j = 0; j < columns - 1; j++) to[i][j] = sums[j] + sums[j + 1];
    for (int j = 0; j < columns - 1; j++) to[i][j] += from[i][j + 1];
  }
}

// The first loop may be left for where the second one is not run.
// CHECK: region at {{.*}}loops-in-a-row.c:[[@LINE+3]]: complete
// CHECK: write may bound to [
void until(int rows, int columns, double (*to)[columns], double (*from)[columns]) {
#pragma omp parallel for
  for (int i = 0; i < rows; i++) {
    double sum = 0;
    for (int j = 0; j < columns; j++) {
      sum += from[i][j];
      if (sum < 0) goto next;
    }
    for (int j = 0; j < columns; j++) to[i][j] = sum;
  next:;
  }
}
