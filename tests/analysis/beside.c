// What code outside of loops accesses beside each other is one declaration, and one section, also where addresses are computed
// one after the other.
// RUN: clang-22 -O2 -g -fopenmp -fpass-plugin=%plugin -Rpass=okl -Rpass-missed=okl -S -emit-llvm %s -o %t.ll 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --check-prefix=CODE < %t.ll
#include <omp.h>

enum { N = 64 };
static double cells[N][5], sums[N];

// The five numbers that are read, and the one that is written.
// REMARK: beside.c:[[@LINE+2]]:1: remark: region declares all its accesses (2 sections)
void add(int from) {
#pragma omp parallel firstprivate(from)
  {
    const double *cell = cells[from];
    double sum = cell[0] * cell[1] + cell[2] * cell[3] + cell[4];
    sums[omp_get_thread_num()] = sum;
  }
}

// CODE-LABEL: define internal void @add.omp_outlined(
// CODE-COUNT-2: call void @okl_mpi_sections
// CODE-NOT:     okl_mpi_sections
// CODE:         ret void

// An address that is loaded in between is not known before.
void follow(double *const *rows, int from) {
#pragma omp parallel firstprivate(rows, from)
  sums[omp_get_thread_num()] = rows[from][0] + rows[from][1];
}

// CODE-LABEL: define internal void @follow.omp_outlined(
// CODE:         call void @okl_mpi_sections
// CODE:         load ptr
// CODE:         call void @okl_mpi_sections
// CODE:         ret void
