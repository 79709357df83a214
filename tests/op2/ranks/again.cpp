// A program that has joined no job begins again after op_exit: with nothing of what it had declared, and no times. It stays
// alone: a job that is there by then is not joined.
//
// RUN: OMPI_CXX=clang++-22 mpicxx -std=c++11 -O1 -g -fpass-plugin=%plugin -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: %t 0 | FileCheck --match-full-lines %s
// RUN: OMP_NUM_THREADS=2 %t 0 | FileCheck --match-full-lines %s
// RUN: (%t 1; echo "ends with $?") 2>&1 | FileCheck --match-full-lines --check-prefix=JOB %s
//
// CHECK:      sum 10 of 4, 6, partitioned 0
// CHECK-NEXT: loops 2, sets 2, then 1
// CHECK-NEXT: sum 21 of 6, 15, partitioned 0
// CHECK-NEXT: loops 2, sets 2, then 1
// CHECK-NEXT: sum 3 of 2, 1, partitioned 0
// CHECK-NEXT: loops 2, sets 2, then 1
// JOB:      sum 10 of 4, 6, partitioned 0
// JOB-NEXT: loops 2, sets 2, then 1
// JOB-NEXT: okl: {{.*}}again.cpp:[[#@LINE+32]]: op_init is called after op_exit: a program joins a job once, as MPI begins once
// JOB-NEXT: ends with 70
#include "op_seq.h"

#include <mpi.h>
#include <vector>

static void total(double const *x, double *sum) { *sum += *x; }
static void add(double const *left, double *right) { *right += *left; }

static void compute(int count) {
  op_set nodes = op_decl_set(count, "nodes"), edges = op_decl_set(count - 1, "edges");
  std::vector<int> ends;
  std::vector<double> ones;
  for (int i = 0; i < count; i++) {
    ones.push_back(i + 1);
    if (i > 0)
      ends.insert(ends.end(), {i - 1, i});
  }
  op_map map = op_decl_map(edges, nodes, 2, ends.data(), "ends");
  std::vector<double> zeros(count);
  op_dat x = op_decl_dat(nodes, 1, "double", ones.data(), "x");
  op_dat y = op_decl_dat(nodes, 1, "double", zeros.data(), "y");
  op_par_loop(add, "add", edges, op_arg_dat(x, 0, map, 1, "double", OP_READ), op_arg_dat(y, 1, map, 1, "double", OP_INC));
  double sum = 0, shifted = 0;
  op_par_loop(total, "total", nodes, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ), op_arg_gbl(&sum, 1, "double", OP_INC));
  op_par_loop(total, "total", nodes, op_arg_dat(y, -1, OP_ID, 1, "double", OP_READ), op_arg_gbl(&shifted, 1, "double", OP_INC));
  printf("sum %g of %lld, %g, partitioned %d\n", sum, op_get_size(nodes), shifted, op_is_partitioned());
  printf("loops %d, sets %d, ", OP_kern_max, OP_set_index);
}

static void run(int argc, char **argv, int count) {
  op_init(argc, argv, 0);
  compute(count);
  op_partition("BLOCK", "", nullptr, nullptr, nullptr);
  printf("then %d\n", op_is_partitioned());
  op_exit();
}

int main(int argc, char **argv) {
  run(argc, argv, 4);
  if (atoi(argv[1]) == 1)
    MPI_Init(&argc, &argv);
  run(argc, argv, 6);
  run(argc, argv, 2);
}
