// Arguments that are kept in variables stand for the data wherever these are: in a mesh that has got another order, in
// parts of it, and when that has ended.
//
// RUN: clang++-22 -std=c++11 -O2 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: %t | FileCheck %s
// RUN: %t renumber | FileCheck %s
// RUN: mpirun --allow-run-as-root --oversubscribe -n 2 %t | FileCheck %s
//
// CHECK: sum 16000
#include "op_seq.h"

#include <vector>

static void add(double *here, double const *by) { *here += *by; }

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  enum { N = 4000 };
  std::vector<double> ones(N, 1);
  std::vector<int> far(N);
  for (int n = 0; n < N; n++)
    far[n] = n * 7 % N;
  op_set from = op_decl_set(N, "from"), to = op_decl_set(N, "to");
  op_map map = op_decl_map(from, to, 1, far.data(), "map");
  op_dat sum = op_decl_dat(to, 1, "double", ones.data(), "sum"), by = op_decl_dat(from, 1, "double", ones.data(), "by");
  if (argc > 1)
    op_renumber(map);
  op_arg here = op_arg_dat(sum, 0, map, 1, "double", OP_INC), one = op_arg_dat(by, -1, OP_ID, 1, "double", OP_READ);
  for (int time = 0; time < 3; time++) {
    op_par_loop(add, "add", from, here, one);
    if (time == 0)
      op_decl_dat_overlay(from, by);
  }
  op_fetch_data(sum, ones.data());
  double all = 0;
  for (double value : ones)
    all += value;
  op_printf("sum %g\n", all);
  op_exit();
}
