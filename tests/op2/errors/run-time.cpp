// What only the running program shows to be wrong ends it, with a message that names the culprit.
//
// RUN: clang++-22 -std=c++11 -O2 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: for n in $(seq 1 21); do %t $n 2>&1; echo "exit $?"; done | FileCheck --match-full-lines %s
#include "op_seq.h"

static void one(double *) {}
static void two(double *, int *) {}

int main(int argc, char **argv) {
  int which = atoi(argv[1]);
  if (which == 1)
    op_decl_set(1, "set");
  // CHECK:      okl: op_decl_set is called before op_init
  // CHECK-NEXT: exit 70
  op_init(argc, argv, 0);
  if (which == 2)
    op_decl_set(-1, "set");
  // CHECK-NEXT: okl: op_decl_set set: a set of -1 elements
  // CHECK-NEXT: exit 70
  op_set cells = op_decl_set(2, "cells"), nodes = op_decl_set(3, "nodes");
  int bad[] = {0, 1, 1, 3};
  if (which == 3)
    op_decl_map(cells, nodes, 2, bad, "bad");
  // CHECK-NEXT: okl: op_decl_map bad: element 1 of cells points to 3 in column 1; nodes has the elements 0 to 2
  // CHECK-NEXT: exit 70
  int good[] = {0, 1, 1, 2};
  if (which == 4)
    op_decl_map(cells, NULL, 2, good, "map");
  // CHECK-NEXT: okl: op_decl_map map: a set is missing
  // CHECK-NEXT: exit 70
  op_map map = op_decl_map(cells, nodes, 2, good, "map");
  double x[3] = {0};
  if (which == 5)
    op_decl_dat(nodes, 1, "float", x, "x");
  // CHECK-NEXT: okl: op_decl_dat x: the data are not of the type "float"
  // CHECK-NEXT: exit 70
  if (which == 6)
    op_decl_dat(nodes, 0, "double", x, "x");
  // CHECK-NEXT: okl: op_decl_dat x: 0 components of 8 bytes
  // CHECK-NEXT: exit 70
  op_dat dat = op_decl_dat(nodes, 1, "double", x, "x");
  if (which == 7)
    op_par_loop(one, "one", nodes, op_arg_dat(NULL, -1, OP_ID, 1, "double", OP_RW));
  // CHECK-NEXT: okl: op_par_loop one: arg0: the dat is missing
  // CHECK-NEXT: exit 70
  if (which == 8)
    op_par_loop(one, "one", nodes, op_arg_dat(dat, -1, OP_ID, 2, "double", OP_RW));
  // CHECK-NEXT: okl: op_par_loop one: arg0: x has 1 component, not 2
  // CHECK-NEXT: exit 70
  if (which == 9)
    op_par_loop(one, "one", nodes, op_arg_dat(dat, -1, OP_ID, 1, "float", OP_RW));
  // CHECK-NEXT: okl: op_par_loop one: arg0: x is of type "double", not "float"
  // CHECK-NEXT: exit 70
  if (which == 10)
    op_par_loop(one, "one", nodes, op_arg_dat(dat, -1, OP_ID, 1, "double", OP_MAX));
  // CHECK-NEXT: okl: op_par_loop one: arg0: x is data on a set, which cannot be OP_MAX
  // CHECK-NEXT: exit 70
  if (which == 11)
    op_par_loop(one, "one", cells, op_arg_dat(dat, 2, map, 1, "double", OP_RW));
  // CHECK-NEXT: okl: op_par_loop one: arg0: x: map map has the indices 0 to 1, not 2
  // CHECK-NEXT: exit 70
  if (which == 12)
    op_par_loop(one, "one", cells, op_arg_dat(dat, 0, OP_ID, 1, "double", OP_RW));
  // CHECK-NEXT: okl: op_par_loop one: arg0: x: index 0 without a map
  // CHECK-NEXT: exit 70
  if (which == 13)
    op_par_loop(one, "one", cells, op_arg_dat(dat, -1, OP_ID, 1, "double", OP_RW));
  // CHECK-NEXT: okl: op_par_loop one: arg0: x is on nodes, but without a map the argument is on cells
  // CHECK-NEXT: exit 70
  if (which == 14)
    op_par_loop(one, "one", nodes, op_arg_dat(dat, 0, map, 1, "double", OP_RW));
  // CHECK-NEXT: okl: op_par_loop one: arg0: x: map map starts at cells, but the loop is over nodes
  // CHECK-NEXT: exit 70
  double z[2];
  op_dat on_cells = op_decl_dat(cells, 1, "double", z, "z");
  if (which == 15)
    op_par_loop(one, "one", cells, op_arg_dat(on_cells, 0, map, 1, "double", OP_RW));
  // CHECK-NEXT: okl: op_par_loop one: arg0: z is on cells, but map map leads to nodes
  // CHECK-NEXT: exit 70
  int where = 0;
  if (which == 16)
    op_par_loop(two, "two", cells, op_arg_gbl(z, 1, "double", OP_INC),
                op_arg_info(&where, 1, "int", 0));
  // CHECK-NEXT: okl: op_par_loop two: arg1: op_arg_info belongs to arg0, which is no OP_MIN or OP_MAX
  // CHECK-NEXT: exit 70
  if (which == 17)
    op_par_loop(one, "one", cells, op_arg_gbl((double *)NULL, 1, "double", OP_READ));
  // CHECK-NEXT: okl: op_par_loop one: arg0: the global variable is missing
  // CHECK-NEXT: exit 70
  if (which == 18)
    op_fetch_data_idx(dat, x, 1, 3);
  // CHECK-NEXT: okl: op_fetch_data_idx x: elements 1 to 3; there are 0 to 2
  // CHECK-NEXT: exit 70
  if (which == 20) {
    op_decl_dat_temp(nodes, 1, "float", (float *)NULL, "x");
    op_decl_dat_temp(nodes, 1, "double", (double *)NULL, "x");
  }
  if (which == 19)
    op_init(argc, argv, 0);
  // CHECK-NEXT: okl: op_init is called twice
  // CHECK-NEXT: exit 70
  // CHECK-NEXT: okl: op_decl_dat_temp x: nodes has data of that name, type and dimension already, which op_free_dat_temp would free
  // CHECK-NEXT: exit 70
  op_exit();
  // CHECK-NEXT: exit 0
  return 0;
}
