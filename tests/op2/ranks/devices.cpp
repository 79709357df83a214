// Loops of several ranks run on devices, and what the program sees is what it sees on the processor of one rank, whoever has
// the parts of the mesh: numbers of elements, arguments that are left out, what goes along with a value, elements that run one after the other, loops on the
// processor between them. All values are whole numbers.
//
// RUN: %okl-c++ -std=c++11 -O2 -g --okl-target=cuda,cpu %s -o %t 2> %t.told
// RUN: FileCheck --check-prefix=TOLD --implicit-check-not=warning: %s < %t.told
// RUN: OKL_BACKEND=cpu %t > %t.expected && FileCheck %s < %t.expected
// RUN: OKL_BACKEND=cuda-emulated %t > %t.found 2> %t.told && cmp %t.expected %t.found
// RUN: for n in 2 3 4; do OKL_BACKEND=cuda-emulated mpirun --allow-run-as-root --oversubscribe -n $n %t > %t.found 2> %t.told && cmp %t.expected %t.found || exit 1; done
// RUN: FileCheck --check-prefix=HOST --implicit-check-not=warning: %s < %t.told
// RUN: OKL_REPRODUCIBLE=1 OKL_BACKEND=cuda-emulated mpirun --allow-run-as-root --oversubscribe -n 3 %t > %t.found 2> %t.told && cmp %t.expected %t.found
// RUN: for n in 1 3; do OKL_BACKEND=cuda-emulated mpirun --allow-run-as-root --oversubscribe -n $n %t renumber > %t.found 2> %t.told && cmp %t.expected %t.found || exit 1; done
// RUN: OP_AUTO_SOA=1 OKL_BACKEND=cuda-emulated mpirun --allow-run-as-root --oversubscribe -n 2 %t > %t.found 2> %t.told && cmp %t.expected %t.found
// Where a rank has no device, none runs a loop there: they would not communicate in the same way.
// RUN: OKL_BACKEND=cuda-emulated mpirun --allow-run-as-root --oversubscribe -n 1 %t : -n 1 env OKL_BACKEND=mpi %t > %t.found 2> %t.told && cmp %t.expected %t.found
// RUN: FileCheck --check-prefix=ONE %s < %t.told
// With a device alone:
// RUN: %okl-c++ -std=c++11 -O2 -g --okl-target=cuda -DALONE %s -o %t.alone
// RUN: OKL_BACKEND=cuda-emulated mpirun --allow-run-as-root --oversubscribe -n 2 %t.alone | FileCheck %s
//
// TOLD: devices.cpp:{{[0-9]+:[0-9]+}}: warning: this cannot run on a device, so the processor runs it: it calls printf
// HOST: warning: {{.*}}devices.cpp:{{[0-9]+}}: op_par_loop tell: the processor runs it: it was not compiled for devices
// ONE: op_par_loop numbers: the processor runs it: another rank has no device
// CHECK: all 1000: {{[0-9]+}}
#include "op_seq.h"
#include <cstdio>
#include <cstring>
#include <vector>

static int const cells = 1000, nodes = 1003, width = 3;

static void numbers(int const *own, int const *first, int const *last, double *x, int *n) {
  x[0] = *own % 7, x[1] = *first % 5, n[0] = *own, n[1] = *first, n[2] = *last;
}
static void spread(double const *x, double **y, float *c) {
  for (int k = 0; k < width; k++)
    y[k][0] += x[k % 2], y[k][1] -= 1;
  *c += 2;
}
static void gather(double const **y, double const *left, double *right, double *x, int const *limit) {
  double sum = left ? left[0] : 1;
  for (int k = 0; k < width; k++)
    sum += y[k][0] - y[k][1];
  if (right)
    right[0] += sum, right[1] += 1;
  if (limit && sum > *limit)
    sum = *limit;
  x[0] = (long)sum % 1000;
}
static void claim(double const *x, double *y) { y[0] = *x; }
static void halve(double *y) { y[0] = (long)y[0] / 2 % 1000, y[1] = (long)y[1] % 1000; }
static void sum(double const *x, int const *n, double *sums, int *least, long long *most, double *maybe) {
  sums[0] += x[0], sums[1] += n[2];
  *least = n[1] + x[0] < *least ? n[1] + (int)x[0] : *least;
  *most = x[0] > *most ? (long long)x[0] : *most;
  if (maybe)
    *maybe += 1;
}
static void peak(double const *x, int const *own, double *most, int *where, int *least, double *there) {
  if (x[0] > *most)
    *most = x[0], where[0] = *own, where[1] = where[0] % 10;
  if (x[1] < *least)
    *least = x[1], *there = *own + 0.5;
}
static void tell(double const *y) {
  if (y[0] > 1e9)
    printf("large\n");
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  op_set c = op_decl_set(cells, "cells"), n = op_decl_set(nodes, "nodes");
  std::vector<int> rows, row;
  for (int at = 0; at < cells; at++) {
    for (int k = 0; k < width; k++)
      rows.push_back((at + k * k * 11) % nodes);
    row.push_back((at * 5 + 3) % nodes);
  }
  op_map map = op_decl_map(c, n, width, rows.data(), "map"), own = op_decl_map(c, n, 1, row.data(), "own");
  op_dat x = op_decl_dat(c, 2, "double", (double *)NULL, "x"), y = op_decl_dat(n, 2, "double", (double *)NULL, "y");
  op_dat z = op_decl_dat(n, 1, "double", (double *)NULL, "z"), ints = op_decl_dat(c, 3, "int", (int *)NULL, "ints");
  op_dat w = op_decl_dat(n, 2, "double", (double *)NULL, "w");
  op_dat count = op_decl_dat(n, 1, "float", (float *)NULL, "count");
  if (argc > 1 && !strcmp(argv[1], "renumber"))
    op_renumber(map);
  op_par_loop(numbers, "numbers", c, op_arg_idx(-1, OP_ID), op_arg_idx(0, map), op_arg_idx(2, map),
              op_arg_dat(x, -1, OP_ID, 2, "double", OP_WRITE), op_arg_dat(ints, -1, OP_ID, 3, "int", OP_WRITE));
  double sums[2] = {0}, times = 0;
  int least = 1 << 20, limit = 40;
  long long most = 0;
  for (int round = 0; round < 6; round++) {
    op_par_loop(spread, "spread", c, op_arg_dat(x, -1, OP_ID, 2, "double", OP_READ),
                op_arg_dat(y, -3, map, 2, "double", OP_INC), op_arg_dat(count, 1, map, 1, "float", OP_INC));
    op_par_loop(claim, "claim", c, op_arg_dat(x, -1, OP_ID, 2, "double", OP_READ),
                op_arg_dat(z, 0, own, 1, "double", OP_WRITE));
    op_par_loop(gather, "gather", c, op_arg_dat(y, -3, map, 2, "double", OP_READ),
                op_opt_arg_dat(round % 2, z, 1, map, 1, "double", OP_READ),
                op_opt_arg_dat(round % 3 == 1, w, 0, own, 2, "double", OP_INC),
                op_arg_dat(x, -1, OP_ID, 2, "double", OP_RW), op_opt_arg_gbl(round > 3, &limit, 1, "int", OP_READ));
    op_par_loop(halve, "halve", n, op_arg_dat(y, -1, OP_ID, 2, "double", OP_RW));
#ifndef ALONE
    op_par_loop(tell, "tell", n, op_arg_dat(y, -1, OP_ID, 2, "double", OP_READ));
#endif
    op_par_loop(sum, "sum", c, op_arg_dat(x, -1, OP_ID, 2, "double", OP_READ),
                op_arg_dat(ints, -1, OP_ID, 3, "int", OP_READ), op_arg_gbl(sums, 2, "double", OP_INC),
                op_arg_gbl(&least, 1, "int", OP_MIN), op_arg_gbl(&most, 1, "ll", OP_MAX),
                op_opt_arg_gbl(round < 2, &times, 1, "double", OP_INC));
    double highest = round == 4 ? 1e6 : -1, there = -1;
    int where[2] = {-1, -1}, lowest = 1 << 20;
    op_par_loop(peak, "peak", c, op_arg_dat(x, -1, OP_ID, 2, "double", OP_READ), op_arg_idx(-1, OP_ID),
                op_arg_gbl(&highest, 1, "double", OP_MAX), op_arg_info(where, 2, "int", 2),
                op_arg_gbl(&lowest, 1, "int", OP_MIN), op_arg_info(&there, 1, "double", 4));
    op_printf("%g at %d %d, %d at %g\n", highest, where[0], where[1], lowest, there);
    op_printf("%g %g, %d, %lld, %g\n", sums[0], sums[1], least, most, times);
    if (round == 3) {
      std::vector<double> some(2 * 3);
      op_fetch_data_idx(y, some.data(), 10, 12);
      for (double one : some)
        op_printf("%g ", one);
      op_printf("\n");
    }
  }
  for (op_dat one : {x, y, z, w}) {
    std::vector<double> all(one->set->size * one->dim);
    op_fetch_data(one, all.data());
    long long total = 0;
    for (size_t at = 0; at < all.size(); at++) {
      op_printf("%g\n", all[at]);
      total = (total * 31 + (long long)all[at]) % 1000003;
    }
    op_printf("all %d: %lld\n", one->set->size, total);
  }
  op_exit();
}
