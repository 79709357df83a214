// OP2 programs find the headers and their run-time library, also through MPI's compiler wrapper; a program's
// own headers come first, and a program without OP2 has none of the library.
//
// RUN: split-file %s %t.d
// RUN: cd %t.d && %okl-c++ -Werror -O2 -fopenmp sum.cpp -o sum && readelf -d sum | FileCheck --check-prefix=NEEDED %s
// NEEDED-NOT: [libokl_mpi.so]
// NEEDED: [libokl_op2.so]
// NEEDED-NOT: [libokl_mpi.so]
// RUN: cd %t.d && ./sum | FileCheck %s && %okl-run -n 2 ./sum | FileCheck %s
// RUN: cd %t.d && OMPI_CXX=%okl-c++ mpicxx -O2 sum.cpp -o with-wrapper && ./with-wrapper | FileCheck %s
// CHECK: sum 4950
// RUN: cd %t.d && (%okl-c++ -Iown -fsyntax-only sum.cpp 2>&1 || true) | FileCheck --check-prefix=OWN %s
// OWN: own/op_seq.h:1:2: error: their own
// RUN: cd %t.d && %okl-c++ --okl-explain -O2 -c sum.cpp 2>&1 | FileCheck --check-prefix=EXPLAINED %s
// EXPLAINED: sum.cpp:12: op_par_loop runs

//--- own/op_seq.h
#error their own

//--- sum.cpp
#include <op_seq.h>

static void add(double const *x, double *sum) { *sum += *x; }

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  double values[100], sum = 0;
  for (int i = 0; i < 100; i++)
    values[i] = i;
  op_set cells = op_decl_set(100, "cells");
  op_dat x = op_decl_dat(cells, 1, "double", values, "x");
  op_par_loop(add, "add", cells, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ), op_arg_gbl(&sum, 1, "double", OP_INC));
  op_printf("sum %g\n", sum);
  op_exit();
}
