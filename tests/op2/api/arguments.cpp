// Every kind of argument: what the kernel's parameters point to, with functions and lambdas as kernels.
//
// RUN: clang++-22 -std=c++11 -O2 -Wall -Wextra -Werror -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: %t | FileCheck %s
// RUN: clang++-22 -std=c++17 -O0 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: %t | FileCheck %s
// RUN: clang++-22 -std=c++11 -O2 -I%op2-include -fpass-plugin=%plugin -mllvm -okl-strict %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: %t | FileCheck %s
// RUN: clang++-22 -std=c++17 -O0 -I%op2-include -fpass-plugin=%plugin -mllvm -okl-strict %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: %t | FileCheck %s
#include "op_seq.h"

static const int CELLS = 4, NODES = 5;

static void scale(double const *x, double *y, double const *factor) {
  for (int k = 0; k < 2; k++)
    y[k] = *factor * x[k];
}

static void gather(double **x, double const *y, double *sum) {
  *sum += x[0][1] + x[1][1] + y[0];
}

static void increment(double *left, double *right) {
  *left += 1;
  *right += 10;
}

static void numbers(int const *cell, int const *node, int *out) { *out = 100 * *cell + *node; }

static void extremes(double const *x, int const *n, double *least, double *greatest, int *where) {
  if (*x < *least)
    *least = *x;
  if (*x > *greatest) {
    *greatest = *x;
    *where = *n;
  }
}

static void optional(double *count, double *extra) {
  *count += 1;
  if (extra)
    *count += *extra;
}

static void table(int *counts, int const *n) { counts[*n % 100]++; }

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  op_set cells = op_decl_set(CELLS, "cells"), nodes = op_decl_set(NODES, "nodes");
  int ends[2 * CELLS] = {0, 1, 1, 2, 2, 3, 3, 4};
  op_map ends_of = op_decl_map(cells, nodes, 2, ends, "ends_of");
  ends[0] = -1;  // the map is a copy
  double values[2 * NODES] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  op_dat x = op_decl_dat(nodes, 2, "double", values, "x");
  op_dat y = op_decl_dat(nodes, 2, "double", (double *)NULL, "y");
  op_dat count = op_decl_dat(nodes, 1, "double:soa", (double *)NULL, "count");
  op_dat number = op_decl_dat(cells, 1, "int", (int *)NULL, "number");

  double factor = 3;
  op_par_loop(scale, "scale", nodes, op_arg_dat(x, -1, OP_ID, 2, "double", OP_READ),
              op_arg_dat(y, -1, OP_ID, 2, "double", OP_WRITE),
              op_arg_gbl(&factor, 1, "double", OP_READ));
  double result[2 * NODES];
  op_fetch_data(y, result);
  // CHECK: y 3 6 30
  op_printf("y %g %g %g\n", result[0], result[1], result[9]);

  // A vector argument: the first columns of the map at once.
  double sum = 0.5;
  op_par_loop(gather, "gather", cells, op_arg_dat(x, -2, ends_of, 2, "double", OP_READ),
              op_arg_dat(y, 1, ends_of, 2, "double", OP_READ),
              op_arg_gbl(&sum, 1, "double", OP_INC));
  // CHECK: sum 120.5
  op_printf("sum %g\n", sum);

  op_par_loop(increment, "increment", cells,
              op_arg_dat(count, 0, ends_of, 1, "double", OP_INC),
              op_arg_dat(count, 1, ends_of, 1, "double", OP_INC));
  double one = 1;
  for (int use = 0; use < 2; use++)
    op_par_loop(optional, "optional", nodes, op_arg_dat(count, -1, OP_ID, 1, "double", OP_RW),
                op_opt_arg_gbl(use, &one, 1, "double", OP_READ));
  op_fetch_data(count, result);
  // CHECK: count 4 14 14 14 13
  op_printf("count %g %g %g %g %g\n", result[0], result[1], result[2], result[3], result[4]);

  // Data that are not used may be missing.
  op_par_loop(optional, "optional", nodes, op_arg_dat(count, -1, OP_ID, 1, "double", OP_RW),
              op_opt_arg_dat(0, NULL, -1, OP_ID, 1, "double", OP_RW));

  op_par_loop(numbers, "numbers", cells, op_arg_idx(-1, OP_ID), op_arg_idx(1, ends_of),
              op_arg_dat(number, -1, OP_ID, 1, "int", OP_WRITE));
  int found[CELLS];
  op_fetch_data(number, found);
  // CHECK: numbers 1 102 203 304
  op_printf("numbers %d %d %d %d\n", found[0], found[1], found[2], found[3]);

  double least = 1e9, greatest = -1e9;
  int where = -1;
  op_par_loop(extremes, "extremes", nodes, op_arg_dat(count, -1, OP_ID, 1, "double", OP_READ),
              op_arg_idx(-1, OP_ID), op_arg_gbl(&least, 1, "double", OP_MIN),
              op_arg_gbl(&greatest, 1, "double", OP_MAX), op_arg_info(&where, 1, "int", 3));
  // CHECK: extremes 5 15 at 1
  op_printf("extremes %g %g at %d\n", least, greatest, where);

  // Wide global variables, and a kernel without a name of its own.
  int counts[100] = {0};
  op_par_loop(table, "table", nodes, op_arg_gbl(counts, 100, "int", OP_INC),
              op_arg_idx(-1, OP_ID));
  op_par_loop([](int *all, int const *n) { all[99 - *n] += 7; }, "lambda", nodes,
              op_arg_gbl(counts, 100, "int", OP_INC), op_arg_idx(-1, OP_ID));
  // CHECK: counts 1 1 0 7
  op_printf("counts %d %d %d %d\n", counts[0], counts[4], counts[5], counts[97]);

  op_exit();
  return 0;
}
