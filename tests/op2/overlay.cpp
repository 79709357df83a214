// Two dats over the same memory: colours keep apart the elements of each set, not what these have in common, so such a
// loop has one thread. One that increments a dat through two maps has two.
//
// RUN: clang++-22 -std=c++11 -O2 -g -I%op2-include -fpass-plugin=%plugin %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: env OMP_NUM_THREADS=2 %t | FileCheck %s
// RUN: clang++-22 -std=c++11 -O2 -g -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: env OMP_NUM_THREADS=2 %t | FileCheck --check-prefix=SAME %s
//
// CHECK: wrong 0
// CHECK: threads lanes colours plan loop
// CHECK-DAG: {{ 2 - [0-9]+ [0-9.]+ }}one dat
// CHECK-DAG: {{ 1 - - - }}overlaid
// SAME: wrong 0
#include "op_seq.h"
#include <vector>

static void add(double const *by, double *here, double *there) {
  *here += *by;
  *there += 2 * *by;
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  enum { N = 40000 };
  std::vector<double> ones(N, 1), zeros(N, 0);
  std::vector<int> same(N), across(N);
  for (int i = 0; i < N; i++) same[i] = i, across[i] = (i + N / 2) % N;
  op_set edges = op_decl_set(N, "edges"), nodes = op_decl_set(N, "nodes"), points = op_decl_set(N, "points");
  op_map to_node = op_decl_map(edges, nodes, 1, same.data(), "to_node");
  op_map across_node = op_decl_map(edges, nodes, 1, across.data(), "across_node");
  op_map to_point = op_decl_map(edges, points, 1, across.data(), "to_point");
  op_dat by = op_decl_dat(edges, 1, "double", ones.data(), "by"), sum = op_decl_dat(nodes, 1, "double", zeros.data(), "sum");
  op_dat again = op_decl_dat_overlay(points, sum);
  op_par_loop(add, "one dat", edges, op_arg_dat(by, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(sum, 0, to_node, 1, "double", OP_INC), op_arg_dat(sum, 0, across_node, 1, "double", OP_INC));
  op_par_loop(add, "overlaid", edges, op_arg_dat(by, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(sum, 0, to_node, 1, "double", OP_INC), op_arg_dat(again, 0, to_point, 1, "double", OP_INC));
  op_fetch_data(sum, ones.data());
  int wrong = 0;
  for (double one : ones) wrong += one != 6;
  printf("wrong %d\n", wrong);
  op_timing_output();
  op_exit();
}
