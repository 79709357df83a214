// A device without instructions that add numbers with a fraction has no atomic operations do so unless the user says it: blocks
// with a target in common run one after the other. Others keep atomic operations, each rank for itself; whole numbers are added
// atomically everywhere. The table of kernels says which it was.
//
// REQUIRES: llvm-spirv-15 libOpenCL libpocl
// RUN: clang++-22 -std=c++11 -O2 -I%op2-include %S/increments.cpp -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.plain && %t.plain > %t.expected
// RUN: clang-22 -shared -fPIC -O1 %S/../launch/spirv_layer.c -o %t.layer.so && mkdir -p %t.cache
// RUN: %okl-c++ -std=c++11 -O2 --okl-target=spirv,cuda,cpu --okl-strict %S/increments.cpp -o %t
// RUN: %okl-c++ -std=c++11 -O2 --okl-target=spirv,cuda,cpu --okl-strict %s -o %t.counts
// RUN: export OKL_STATS=1 OPENCL_LAYERS=%t.layer.so POCL_CACHE_DIR=%t.cache POCL_DEVICES=basic; \
// RUN:   for way in '' atomics colours; do OKL_INCREMENTS=$way OKL_BACKEND=spirv %t > %t.found 2> %t.table-$way && cmp %t.expected %t.found || exit 1; done; \
// RUN:   OKL_BACKEND=cuda-emulated %t 2> %t.table-cuda > %t.found && cmp %t.expected %t.found; \
// RUN:   OKL_BACKEND=spirv %t.counts 2> %t.table-counts | FileCheck --check-prefix=SUM %s; \
// RUN:   OKL_BACKEND=cuda-emulated mpirun --allow-run-as-root --oversubscribe -n 1 %t : -n 1 env OKL_BACKEND=spirv %t > %t.found 2> %t.table-ranks && cmp %t.expected %t.found
// RUN: FileCheck --check-prefix=BLOCKS --implicit-check-not=', atomics' --implicit-check-not='sides, colours' %s < %t.table-
// RUN: FileCheck --check-prefix=ATOMICS --implicit-check-not=', blocks' --implicit-check-not='sides, colours' %s < %t.table-atomics
// RUN: FileCheck --check-prefix=COLOURS --implicit-check-not=', blocks' --implicit-check-not=', atomics' %s < %t.table-colours
// RUN: FileCheck --check-prefix=ATOMICS --implicit-check-not=', blocks' --implicit-check-not='sides, colours' %s < %t.table-cuda
// RUN: FileCheck --check-prefix=COUNTS %s < %t.table-counts
// RUN: FileCheck --check-prefix=RANKS %s < %t.table-ranks
//
// Three calls: with atomic operations a launch each.
// BLOCKS-DAG:  sides, blocks {{([6-9]|[1-9][0-9])}}
// BLOCKS-DAG:  mixed, blocks {{([4-9]|[1-9][0-9])}}
// BLOCKS-DAG:  wide, colours {{([2-9]|[1-9][0-9])}}
// ATOMICS-DAG: sides, atomics 3
// ATOMICS-DAG: mixed, atomics 2
// ATOMICS-DAG: wide, atomics 1
// COLOURS-DAG: sides, colours {{([6-9]|[1-9][0-9])}}
// COLOURS-DAG: mixed, colours
// COUNTS:      count, atomics 1
// RANKS-DAG:   sides, atomics 3
// RANKS-DAG:   sides, blocks {{([6-9]|[1-9][0-9])}}
// SUM:         1900
#include "op_seq.h"
#include <vector>

static void count(int *one) { *one += 1; }

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  op_set edges = op_decl_set(1900, "edges"), cells = op_decl_set(70, "cells");
  std::vector<int> row;
  for (int at = 0; at < 1900; at++)
    row.push_back(at * 3 % 70);
  op_map map = op_decl_map(edges, cells, 1, row.data(), "map");
  op_dat counts = op_decl_dat(cells, 1, "int", (int *)NULL, "counts");
  op_par_loop(count, "count", edges, op_arg_dat(counts, 0, map, 1, "int", OP_INC));
  std::vector<int> all(70);
  op_fetch_data(counts, all.data());
  int sum = 0;
  for (int one : all)
    sum += one;
  op_printf("%d\n", sum);
  op_exit();
}
