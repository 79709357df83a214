// PT-Scotch, and Scotch on one rank, divide a mesh whose cells are numbered at random so that few edges lead from one part
// to another: there are no more messages, and far fewer bytes, than with blocks; the result is the same, and so is the
// division in every run, and PT-Scotch's is not much worse than Scotch's. A mesh in rows is divided as well as by coordinates.
//
// REQUIRES: libptscotch libscotch
// RUN: clang++-22 -std=c++11 -O2 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: for n in 2 3 4; do for way in BLOCK SCOTCH PTSCOTCH PTSCOTCH; do mpirun --allow-run-as-root --oversubscribe -n $n %t $way 7919 2>&1 | awk '/okl/ { print } /sum/ { sum = $2 } /flow$/ { print sum, $10, $11 }'; done | awk '{ sum[NR] = $1; messages[NR] = $2; bytes[NR] = $3 } END { print sum[1], (sum[2] == sum[1] && sum[3] == sum[1]), (messages[2] <= messages[1] && messages[3] <= messages[1]), (0 < bytes[2] && bytes[2] * 10 < bytes[1]), (0 < bytes[3] && bytes[3] <= bytes[2] * 1.2), (bytes[4] == bytes[3]) }'; done | FileCheck --match-full-lines %s
// RUN: mpirun --allow-run-as-root --oversubscribe -n 2 %t PTSCOTCH 1 | awk '/flow$/ { print ($10 == 20 && $11 <= 10 * 2 * 70 * 8) }' | FileCheck --check-prefix=ROWS %s
//
// CHECK:      695670 1 1 1 1 1
// CHECK-NEXT: 695670 1 1 1 1 1
// CHECK-NEXT: 695670 1 1 1 1 1
// ROWS: 1
#include "op_seq.h"

#include <vector>

static void flow(double const *a, double const *b, double *x, double *y) {
  *x += *b;
  *y += *a;
}
static void next(double *value, double *change, double *sum) {
  *value += *change > *value ? 1 : 2;
  *change = 0;
  *sum += *value;
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  int const W = 60, H = 80, CELLS = W * H;
  std::vector<int> ends;
  long long const factor = atoi(argv[2]);
  auto number = [&](int cell) { return (int)(cell * factor % CELLS); };
  for (int cell = 0; cell < CELLS; cell++) {
    if (cell % W + 1 < W)
      ends.push_back(number(cell)), ends.push_back(number(cell + 1));
    if (cell + W < CELLS)
      ends.push_back(number(cell)), ends.push_back(number(cell + W));
  }
  std::vector<double> values(CELLS);
  for (int cell = 0; cell < CELLS; cell++)
    values[number(cell)] = cell % 17;
  op_set cells = op_decl_set(CELLS, "cells"), edges = op_decl_set(ends.size() / 2, "edges");
  op_map map = op_decl_map(edges, cells, 2, ends.data(), "map");
  op_dat value = op_decl_dat(cells, 1, "double", values.data(), "value");
  op_dat change = op_decl_dat(cells, 1, "double", (double *)NULL, "change");
  op_partition(argv[1], "KWAY", edges, map, NULL);
  double sum = 0;
  for (int round = 0; round < 10; round++) {
    op_par_loop(next, "next", cells, op_arg_dat(value, -1, OP_ID, 1, "double", OP_RW),
                op_arg_dat(change, -1, OP_ID, 1, "double", OP_RW), op_arg_gbl(&sum, 1, "double", OP_INC));
    op_par_loop(flow, "flow", edges, op_arg_dat(value, 0, map, 1, "double", OP_READ),
                op_arg_dat(value, 1, map, 1, "double", OP_READ), op_arg_dat(change, 0, map, 1, "double", OP_INC),
                op_arg_dat(change, 1, map, 1, "double", OP_INC));
  }
  op_printf("sum %.0f\n", sum);
  op_timing_output();
  op_exit();
  return 0;
}
