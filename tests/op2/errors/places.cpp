// Messages of the running program name the line of the call that they are about, as the compiler has told the run time;
// without debug information, the function. A call in a file that the plugin has not seen has no place.
//
// RUN: clang++-22 -std=c++11 -O2 -I%op2-include -DOTHER -c %s -o %t.other.o
// RUN: clang++-22 -std=c++11 -O2 -g -I%op2-include -fpass-plugin=%plugin %s %t.other.o -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: for n in $(seq 0 9); do %t $n 2>&1; echo "exit $?"; done | FileCheck --match-full-lines %s
// RUN: (mpirun --allow-run-as-root --oversubscribe -n 2 %t 10 2>&1; true) | grep ^okl: | FileCheck --match-full-lines --check-prefix=RANK %s
// RUN: clang++-22 -std=c++11 -O0 -I%op2-include -fpass-plugin=%plugin %s %t.other.o -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: for n in 0 1 5; do %t $n 2>&1; echo "exit $?"; done | FileCheck --match-full-lines --check-prefix=BARE %s
#include "op_seq.h"

#include <string>

void elsewhere(op_set cells);

#ifdef OTHER
static void nothing(double *) {}
void elsewhere(op_set cells) {
  op_par_loop(nothing, "nothing", cells, op_arg_dat(NULL, -1, OP_ID, 1, "double", OP_RW));
}
#else
static void one(double *x) { *x = 1; }
static void least(int *x) { *x = *x < 3 ? *x : 3; }

static op_dat declare(op_set set, double *data) {
  return op_decl_dat(set, 1, "double", data, "x");
}

static void over(op_set set, op_dat dat, int dim) {
  op_par_loop(one, "one", set, op_arg_dat(dat, -1, OP_ID, dim, "double", OP_WRITE));
}

int main(int argc, char **argv) {
  int const which = atoi(argv[1]);
  // CHECK:     okl: {{.*}}places.cpp:[[#@LINE+3]]: op_decl_set is called before op_init
  // BARE:      okl: {{.*}}places.cpp: in main: op_decl_set is called before op_init
  if (which == 0)
    op_decl_set(1, "early");
  // CHECK-NEXT: exit 70
  // BARE-NEXT:  exit 70
  op_init(argc, argv, which == 9 ? 2 : 0);
  // CHECK-NEXT: okl: {{.*}}places.cpp:[[#@LINE+2]]: op_decl_set cells: a set of -1 elements
  // BARE-NEXT:  okl: {{.*}}places.cpp: in main: op_decl_set cells: a set of -1 elements
  op_set cells = op_decl_set(which == 1 ? -1 : 2, "cells");
  // CHECK-NEXT: exit 70
  // BARE-NEXT:  exit 70
  int numbers[] = {0, 1, which == 9 ? 0 : 1, which == 2 ? 3 : 2};
  // An object that has to be destroyed if an exception comes.
  std::string name = argv[0];
  op_set nodes = op_decl_set(3, "nodes");
  // CHECK-NEXT: okl: {{.*}}places.cpp:[[#@LINE+1]]: op_decl_map map: element 1 of cells points to 3 in column 1; nodes has the elements 0 to 2
  op_map map = op_decl_map(cells, nodes, 2, numbers, "map");
  // CHECK-NEXT: exit 70
  double x[3] = {0};
  // CHECK-NEXT: okl: {{.*}}places.cpp:[[#@LINE-29]]: op_decl_dat x: the set is missing
  // CHECK-NEXT: exit 70
  op_dat dat = declare(which == 3 ? NULL : nodes, x);
  // CHECK-NEXT: okl: {{.*}}places.cpp:[[#@LINE-28]]: op_par_loop one: arg0: x is on nodes, but without a map the argument is on cells
  // CHECK-NEXT: exit 70
  over(which == 4 ? cells : nodes, dat, 1);
  // CHECK-NEXT: okl: {{.*}}places.cpp:[[#@LINE-31]]: op_par_loop one: arg0: x has 1 component, not 2
  // CHECK-NEXT: exit 70
  // BARE-NEXT:  okl: {{.*}}places.cpp: in over: op_par_loop one: arg0: x has 1 component, not 2
  // BARE-NEXT:  exit 70
  over(nodes, dat, which == 5 ? 2 : 1);
  // A loop that the compiler leaves as it is written, and one whose kernel is a lambda.
  op_arg any = op_arg_dat(dat, which - 6, OP_ID, 1, "double", OP_RW);
  // CHECK-NEXT: okl: {{.*}}places.cpp:[[#@LINE+2]]: op_par_loop any: arg0: x: index 0 without a map
  if (which == 6)
    op_par_loop(one, "any", nodes, any);
  // CHECK-NEXT: exit 70
  // CHECK-NEXT: okl: {{.*}}places.cpp:[[#@LINE+2]]: op_par_loop lambda: arg0: the global variable is missing
  if (which == 7)
    op_par_loop([](int *x) { least(x); }, "lambda", nodes, op_arg_gbl((int *)NULL, 1, "int", OP_MIN));
  // CHECK-NEXT: exit 70
  // CHECK-NEXT: okl: op_par_loop nothing: arg0: the dat is missing
  if (which == 8)
    elsewhere(nodes);
  // CHECK-NEXT: exit 70
  // Warnings, too.
  // CHECK: okl: warning: {{.*}}places.cpp:[[#@LINE+1]]: op_par_loop written: {{.*}}
  op_par_loop(one, "written", cells, op_arg_dat(dat, 0, map, 1, "double", OP_WRITE));
  // CHECK-NEXT: exit 0
  int rank;
  op_rank(&rank);
  // RANK: okl: rank 1: {{.*}}places.cpp:[[#@LINE+1]]: op_fetch_data_idx x: elements 1 to 3; there are 0 to 2
  op_fetch_data_idx(dat, x, 1, which == 10 && rank == 1 ? 3 : 2);
  op_exit();
  return 0;
}
#endif
