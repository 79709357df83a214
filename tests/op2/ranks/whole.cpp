// A loop that updates a global argument and writes through maps is right on several ranks, but slow: each of them gets the whole
// mesh. Who asks to be told much is told, once for a loop.
//
// RUN: clang++-22 -std=c++11 -O2 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: mpirun --allow-run-as-root --oversubscribe -n 2 %t 2 2>&1 | grep -E '^(okl:|sum)' | sort | FileCheck --match-full-lines %s
// RUN: (mpirun --allow-run-as-root --oversubscribe -n 2 %t 1; %t 2) 2>&1 | grep -E '^(okl:|sum)' | FileCheck --match-full-lines --check-prefix=SILENT %s
// CHECK:      okl: warning: op_par_loop direct: arg2, a global argument, is OP_RW, and the loop writes through maps: each rank gets and computes the whole mesh for it
// CHECK-NEXT: okl: warning: op_par_loop work: arg1, a global argument, is OP_RW, and the loop writes through maps: each rank gets and computes the whole mesh for it
// CHECK-NEXT: sum 4 of 66
// CHECK-NOT:  {{.}}
// SILENT-NOT:  {{okl}}
// SILENT:      sum 4 of 66
// SILENT-NEXT: sum 4 of 66
// SILENT-NOT:  {{.}}
#include "op_seq.h"

static void work(double *y, int *turn) { *y += (*turn)++ % 12; }
static void direct(double const *x, double *y, int *turn) { *y += *x, *turn -= 1; }
static void plain(double *y, int *sum) { *y += 0, *sum += 1; }

int main(int argc, char **argv) {
  op_init(argc, argv, atoi(argv[1]));
  op_set cells = op_decl_set(12, "cells"), nodes = op_decl_set(12, "nodes");
  int numbers[12];
  for (int n = 0; n < 12; n++)
    numbers[n] = 11 - n;
  op_map map = op_decl_map(cells, nodes, 1, numbers, "map");
  op_dat x = op_decl_dat(cells, 1, "double", (double *)NULL, "x"), y = op_decl_dat(nodes, 1, "double", (double *)NULL, "y");
  int turn = 0, count = 0;
  op_par_loop(work, "work", cells, op_arg_dat(y, 0, map, 1, "double", OP_INC), op_arg_gbl(&turn, 1, "int", OP_RW));
  for (int round = 0; round < 2; round++)
    op_par_loop(direct, "direct", cells, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ),
                op_arg_dat(y, 0, map, 1, "double", OP_INC), op_arg_gbl(&turn, 1, "int", OP_RW));
  op_par_loop(plain, "plain", cells, op_arg_dat(y, 0, map, 1, "double", OP_INC), op_arg_gbl(&count, 1, "int", OP_INC));
  double all[12], sum = 0;
  op_fetch_data(y, all);
  for (double one : all)
    sum += one;
  op_printf("sum %d of %g\n", count + turn + 4, sum);
  op_exit();
  return 0;
}
