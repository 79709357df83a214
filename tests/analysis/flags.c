// Between flags that threads set and wait for, loop nests declare what they access: nothing is declared across them. The
// variables themselves are not declared, and flags that are not known when the region begins keep it from declaring.
// RUN: clang-22 -O2 -g -fopenmp -fpass-plugin=%plugin -Rpass=okl -Rpass-missed=okl -S -emit-llvm %s -o %t.ll 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --check-prefix=CODE < %t.ll
enum { N = 1000, ROWS = 100 };
static int ready[ROWS], far[5000];
static double grid[ROWS][N];

// REMARK: flags.c:[[@LINE+2]]:1: remark: region declares all its accesses (
void sweep(void) {
#pragma omp parallel for schedule(static)
  for (int row = 1; row < ROWS; row++) {
    while (ready[row - 1] == 0) {
#pragma omp flush
    }
    for (int i = 0; i < N; i++)
      grid[row][i] += grid[row - 1][i];
    ready[row] = 1;
  }
}

// CODE-LABEL: define internal void @sweep.omp_outlined(
// CODE: call i64 @okl_mpi_flag_load(
// CODE: call void @okl_mpi_sections
// CODE: call void @okl_mpi_flag_store(

// REMARK: flags.c:[[@LINE+2]]:1: remark: pages of this region are tracked: it
void many(void) {
#pragma omp parallel for schedule(static)
  for (int row = 1; row < ROWS; row++) {
    while (far[40 * row] == 0) {
#pragma omp flush
    }
    for (int i = 0; i < N; i++)
      grid[row][i] += grid[row - 1][i];
    far[40 * row + 40] = 1;
  }
}
