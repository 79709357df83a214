// What is stored to computed places is not marked where the nest writes it for sure: where that is, in one piece, is known in front
// of it. Both fields have one.
// RUN: clang-22 -O2 -fno-vectorize -fno-unroll-loops -fopenmp -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck %s

struct pair {
  double a, b;
};

// CHECK-LABEL: define internal void @scatter.omp_outlined(
// CHECK: call void @okl_mpi_sections(
// CHECK: icmp ult i64 {{.*}}, 2147483648
// CHECK: load i32, ptr
// CHECK: [[ENDS:%.*]] = icmp ugt i64
// CHECK-NEXT: [[IS_OUTSIDE:%.*]] = select i1 {{.*}}, i1 true, i1 [[ENDS]]
// CHECK-NEXT: br i1 [[IS_OUTSIDE]]
// CHECK: or i8
// CHECK: store i8
void scatter(struct pair *cells, const int *place, int n, int m) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) {
      struct pair *to = cells + place[i * m + j];
      to->a = i;
      to->b = j;
    }
    for (int j = 0; j < m; j++) {
      cells[i * m + j].a += 1;
      cells[i * m + j].b += 1;
    }
  }
}
