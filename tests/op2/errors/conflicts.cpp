// Elements that write the same through maps: told where the program asks for it (op_init with 2 or more), once for each
// loop and its maps, in the same words on any number of ranks.
//
// RUN: clang++-22 -std=c++11 -O2 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: %t 2 2>&1 | grep okl: | FileCheck --match-full-lines %s
// RUN: %t 1 2>&1 | count 0
// RUN: %t 2 OP_MAPS_BASE_INDEX=1 2>&1 | grep okl: | FileCheck --check-prefix=ONE %s
// RUN: for n in 2 3; do mpirun --allow-run-as-root --oversubscribe -n $n %t 2 2>&1 | grep okl: | FileCheck --match-full-lines %s || exit 1; done
// RUN: clang++-22 -std=c++11 -O3 -march=native -Wno-backend-plugin -I%op2-include -fpass-plugin=%plugin %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: OMP_NUM_THREADS=2 %t 2 2>&1 | grep okl: | FileCheck --match-full-lines %s
#include "op_seq.h"

static void put(int const *n, double *x) { *x = *n; }
static void grow(double *x) { *x += 1; }
static void put_all(double **x) { x[0][0] = x[1][0] = 1; }
static void put_two(double *x, double *y) { *x = *y = 1; }

int main(int argc, char **argv) {
  op_init(argc, argv, atoi(argv[1]));
  enum { N = 900 };
  int const base = argc > 2;
  int one_each[N], shared[N], pairs[2 * N], apart[2 * N];
  for (int n = 0; n < N; n++) {
    one_each[n] = N - 1 - n + base;
    shared[n] = (n == 700 ? 20 : n) + base;
    pairs[2 * n] = n + base, pairs[2 * n + 1] = (n + 1) % N + base;
    apart[2 * n] = apart[2 * n + 1] = n + base;
  }
  op_set cells = op_decl_set(N, "cells"), nodes = op_decl_set(N, "nodes");
  op_map own = op_decl_map(cells, nodes, 1, one_each, "own"), meets = op_decl_map(cells, nodes, 1, shared, "meets");
  op_map ends = op_decl_map(cells, nodes, 2, pairs, "ends"), same = op_decl_map(cells, nodes, 2, apart, "same");
  op_dat x = op_decl_dat(nodes, 1, "double", (double *)NULL, "x"), y = op_decl_dat(nodes, 1, "double", (double *)NULL, "y");
  for (int round = 0; round < 2; round++) {
    op_par_loop(put, "right", cells, op_arg_idx(-1, OP_ID), op_arg_dat(x, 0, own, 1, "double", OP_WRITE));
    op_par_loop(grow, "adds", cells, op_arg_dat(x, 0, meets, 1, "double", OP_INC));
    op_par_loop(put_all, "one element twice", cells, op_arg_dat(x, -2, same, 1, "double", OP_WRITE));
    op_par_loop(put_two, "two dats", cells, op_arg_dat(x, 0, ends, 1, "double", OP_WRITE),
                op_arg_dat(y, 1, ends, 1, "double", OP_WRITE));
    // CHECK:      okl: warning: {{(.*: )?}}op_par_loop put: arg1: elements 20 and 700 of cells both write element 20 of nodes in x: the result depends on their order
    // ONE:        okl: warning: {{(.*: )?}}op_par_loop put: arg1: elements 21 and 701 of cells both write element 21 of nodes in x
    op_par_loop(put, "put", cells, op_arg_idx(-1, OP_ID), op_arg_dat(x, 0, meets, 1, "double", OP_WRITE));
    // CHECK-NEXT: okl: warning: {{(.*: )?}}op_par_loop grow: arg0: elements 20 and 700 of cells both write element 20 of nodes in y: the result depends on their order
    op_par_loop(grow, "grow", cells, op_arg_dat(y, 0, meets, 1, "double", OP_RW));
    // CHECK-NEXT: okl: warning: {{(.*: )?}}op_par_loop put_all: arg0: elements 0 and 1 of cells both write element 1 of nodes in x: the result depends on their order
    op_par_loop(put_all, "put_all", cells, op_arg_dat(x, -2, ends, 1, "double", OP_WRITE));
    // CHECK-NEXT: okl: warning: {{(.*: )?}}op_par_loop put_two: arg0: elements 0 and 1 of cells both write element 1 of nodes in x: the result depends on their order
    op_par_loop(put_two, "put_two", cells, op_arg_dat(x, 0, ends, 1, "double", OP_WRITE),
                op_arg_dat(x, 1, ends, 1, "double", OP_WRITE));
    // CHECK-NOT: okl:
  }
  op_exit();
  return 0;
}
