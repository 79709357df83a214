// OpenMP regions of an OP2 program stay threads, and a remark says so. A program whose own functions begin with
// op_ is no OP2 program.
//
// RUN: clang++-22 -std=c++11 -O2 -g -fopenmp -I%op2-include -fpass-plugin=%plugin -Rpass-missed=okl -Rpass=okl -DOP2 -S -emit-llvm %s -o %t.ll 2>&1 | FileCheck --check-prefix=REMARK %s
// RUN: FileCheck --check-prefix=THREADS --implicit-check-not=okl_mpi %s < %t.ll
// RUN: clang++-22 -std=c++11 -O2 -g -fopenmp -fpass-plugin=%plugin -S -emit-llvm %s -o %t.ll
// RUN: FileCheck --check-prefix=RANKS --implicit-check-not=__kmpc_fork_call %s < %t.ll
//
// THREADS: call {{.*}}@__kmpc_fork_call(
// RANKS: call {{.*}}@okl_mpi_fork(
#ifdef OP2
#include "op_seq.h"
static void one(double *x) { *x = 1; }
extern "C" void loop(op_set set, op_dat x) {
  op_par_loop(one, "one", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_RW));
}
#else
extern "C" void op_init(int, char **, int);
extern "C" double op_add(double, double);
#endif

double sum(int n, double const *x) {
  double all = 0;
#ifndef OP2
  op_init(0, nullptr, 0);
  all = op_add(1, 2);
#endif
// REMARK: openmp.cpp:[[#@LINE+1]]:1: remark: parallel region keeps its threads: the file is part of an OP2 program
#pragma omp parallel for reduction(+ : all)
  for (int i = 0; i < n; i++)
    all += x[i];
  return all;
}
