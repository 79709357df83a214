// Where serial code after a region is announced: a single access with its address, all else as a whole, in
// front of a loop.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi -S -emit-llvm %s -o - | FileCheck %s
#include <string.h>

struct grid {
  long n;
  double *a;
  double norm;
};

void unknown(void);

static void fill(struct grid *grid) {
  double *a = grid->a;
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) a[i] = i;
}

// CHECK-LABEL: define {{.*}} @fields(
// CHECK: call void @okl_mpi_fork(
// CHECK-NOT: okl_mpi_serial_code
// CHECK: call void @okl_mpi_serial_access(ptr {{.*}}, i64 8, i32 0)
// CHECK-NEXT: load double
// CHECK: call void @okl_mpi_serial_access(ptr {{.*}}, i64 8, i32 1)
// CHECK-NEXT: store double
// CHECK: call void @okl_mpi_fork(
// What calls it may go on in any way.
// CHECK: call void @okl_mpi_serial_code()
// CHECK-NEXT: ret void
void fields(struct grid *grid) {
  fill(grid);
  grid->norm *= 2;
  fill(grid);
}

// CHECK-LABEL: define {{.*}} @loop(
// CHECK: call void @okl_mpi_fork(
// CHECK: call void @okl_mpi_serial_access(
// CHECK: load i64
// CHECK: call void @okl_mpi_serial_code()
// CHECK: br label
// CHECK: load double
// CHECK-NOT: okl_mpi_serial_access
// The loop may have no iteration.
// CHECK: call void @okl_mpi_serial_code()
// CHECK-NEXT: ret double
// CHECK-NOT: okl_mpi_serial
// CHECK-LABEL: define {{.*}} @sweeps(
double loop(struct grid *grid) {
  fill(grid);
  long n = grid->n;
  double sum = 0;
  for (long i = 0; i < n; i++) sum += grid->a[i * n];
  return sum;
}

// CHECK: call void @okl_mpi_fork(
// CHECK-NOT: okl_mpi_serial_code
// CHECK: call void @okl_mpi_serial_access(
// CHECK: br i1
// CHECK: call void @okl_mpi_serial_code()
// CHECK: call void @unknown()
void sweeps(struct grid *grid) {
  do
    fill(grid);
  while (grid->a[7] < 1);
  unknown();
}

// What is on the stack no region has declared; what a pointer leads to one may have.
// CHECK-LABEL: define {{.*}} @clears(
// CHECK: call void @okl_mpi_fork(
// CHECK-NOT: okl_mpi_serial
// CHECK: call void @llvm.memset
// CHECK: call void @okl_mpi_fork(
// CHECK: call void @okl_mpi_serial_code()
// CHECK-NEXT: call void @llvm.memset
void clears(struct grid *grid, double *others) {
  fill(grid);
  double sums[24] = {0};
#pragma omp parallel for reduction(+ : sums)
  for (int i = 0; i < 1000; i++) sums[i % 24] += i;
  memset(others, 0, 800);
  grid->norm = sums[3];
}
