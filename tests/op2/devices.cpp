// Loops on a device find data where they are, and so does all else: loops on the processor, what is fetched, printed and
// written. Values are whole numbers, so that the order of sums does not matter: all are those of the program without the
// plugin. Emulated, the device checks each access.
//
// RUN: clang++-22 -std=c++11 -O2 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.plain
// RUN: cd $(dirname %t) && %t.plain > %t.expected && cat devices.txt >> %t.expected && FileCheck %s < %t.expected
// RUN: %okl-c++ -std=c++11 -O2 -g --okl-target=cuda,cpu -Rpass-missed=okl %s -o %t 2> %t.told
// RUN: FileCheck --check-prefix=TOLD %s < %t.told
// RUN: cd $(dirname %t) && rm devices.txt && OKL_BACKEND=cuda-emulated %t > %t.found && cat devices.txt >> %t.found && cmp %t.expected %t.found
// RUN: cd $(dirname %t) && OKL_REPRODUCIBLE=1 OKL_BACKEND=cuda-emulated %t > %t.found && cat devices.txt >> %t.found && cmp %t.expected %t.found
// RUN: cd $(dirname %t) && OP_AUTO_SOA=1 OKL_BACKEND=cuda-emulated %t > %t.found && cat devices.txt >> %t.found && cmp %t.expected %t.found
// RUN: cd $(dirname %t) && OKL_BACKEND=cpu %t > %t.found && cat devices.txt >> %t.found && cmp %t.expected %t.found
// RUN: cd $(dirname %t) && OKL_BACKEND=seq %t > %t.found && cat devices.txt >> %t.found && cmp %t.expected %t.found
// RUN: cd $(dirname %t) && %t renumber > %t.host && OKL_BACKEND=cuda-emulated %t renumber > %t.found 2> %t.told && cmp %t.host %t.found
// RUN: FileCheck --check-prefix=RENUMBERED --implicit-check-not=warning: %s < %t.told
//
// What moves: data once, and in each round what blocks have made of the sum.
// RUN: for rounds in 2 12; do OKL_STATS=1 OKL_BACKEND=cuda-emulated %t rounds $rounds 2>&1 | awk '$1 == "okl_copy" { print $2, $4, $5 }'; done > %t.moved
// RUN: FileCheck --check-prefix=MOVED %s < %t.moved
//
// Where there is no device, and nothing else to run it on.
// RUN: %okl-c++ -std=c++11 -O2 -g --okl-target=cuda -DALONE %s -o %t.alone
// RUN: not env OKL_BACKEND=cuda-emulated OKL_PTX_MACHINE=devices=0 %t.alone 2>&1 | FileCheck --check-prefix=NOTHING %s
// RUN: not env OKL_BACKEND=cuda-emulated OKL_PTX_MACHINE=devices=0 %t 2>&1 | FileCheck --check-prefix=NOTHING %s
// RUN: not env OKL_BACKEND=cuda-emulated %t.alone twice 2>&1 | FileCheck --check-prefix=OWN %s
// RUN: for way in cpu cuda-emulated; do OKL_BACKEND=$way %t.alone | FileCheck --check-prefix=ALONE %s || exit 1; done
//
// TOLD: devices.cpp:{{[0-9]+:[0-9]+}}: warning: this cannot run on a device, so the processor runs it: it calls printf
// RENUMBERED: warning: {{.*}}devices.cpp:{{[0-9]+}}: op_par_loop print: the processor runs it: it was not compiled for devices
// MOVED:      [[# COPIES:]] 0.0[[UP:[0-9]+]] 0.0
// MOVED-NEXT: [[# COPIES + 10]] 0.0[[UP]] 0.0
// NOTHING: there is no emulated CUDA device
// OWN: op_par_loop twice: a device cannot run it: several of its arguments use the same data; compile it with cpu among its targets
// ALONE: sum 1000
#include "op_seq.h"
#include <cstdio>
#include <cstring>
#include <vector>

static int const cells = 1000, nodes = 1003, width = 3;
double scale = 2;
int table[3] = {1, 2, 3};
static float small = 1;

static double scaled(double x) { return scale * x; }

static void set(int const *number, double *x) { x[0] = *number % 7, x[1] = *number % 5; }
static void number(int const *own, int const *other, int *n) { n[0] = *own, n[1] = *other, n[2] = *own - *other; }
static void spread(double const *x, double *a, double *b, float *c, int *n) {
  a[0] += scaled(x[0]), b[1] += x[1], *c += small, n[2] += table[(int)x[0] % 3];
}
static void collect(double **y, double const **x, double *sum) {
  for (int k = 0; k < width; k++)
    y[k][0] += x[k][1];
  *sum = x[0][0] - x[2][1];
}
static void update(double *y, float const *c) { y[0] = 2 * y[0] - *c, y[1] += y[0]; }
static void exchange(double *y, int const *n) { y[0] = y[0] / 2 + n[0] % 3, y[1] = -y[1]; }
static void reduce(double const *x, int const *n, double *sums, int *least, float *most, double const *by) {
  sums[0] += x[0] * by[1], sums[1] += by[0];
  if (n[0] < *least)
    *least = n[0];
  *most = x[1] > *most ? x[1] : *most;
}
static void print(double const *x) {
  if (x[0] > 1000)
    printf("large\n");
}
static void twice(double *x, double const *y) { x[0] += y[1]; }
static void add(double const *x, double *sum) { *sum += x[0]; }

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  op_set c = op_decl_set(cells, "cells"), n = op_decl_set(nodes, "nodes");
  std::vector<int> rows;
  for (int at = 0; at < cells; at++)
    for (int k = 0; k < width; k++)
      rows.push_back((at * 7 + k * 5) % nodes);
  op_map map = op_decl_map(c, n, width, rows.data(), "map");
  op_dat x = op_decl_dat(n, 2, "double", (double *)NULL, "x"), y = op_decl_dat(n, 2, "double", (double *)NULL, "y");
  op_dat counts = op_decl_dat(n, 1, "float", (float *)NULL, "counts");
  op_dat ints = op_decl_dat(n, 3, "int", (int *)NULL, "ints"), own = op_decl_dat(c, 3, "int", (int *)NULL, "own");
  op_dat z = op_decl_dat(c, 1, "double", (double *)NULL, "z");
#ifdef ALONE
  op_par_loop(set, "set", n, op_arg_idx(-1, OP_ID), op_arg_dat(x, -1, OP_ID, 2, "double", OP_WRITE));
  op_par_loop(add, "one", n, op_arg_dat(x, -1, OP_ID, 2, "double", OP_READ), op_arg_gbl(&scale, 1, "double", OP_INC));
  if (argc > 1)
    op_par_loop(twice, "twice", n, op_arg_dat(x, -1, OP_ID, 2, "double", OP_RW),
                op_arg_dat(x, -1, OP_ID, 2, "double", OP_READ));
  printf("sum %d\n", 1000);
  return 0;
#endif
  op_decl_const(1, "double", &scale);
  op_decl_const(3, "int", table);
  if (argc > 1 && !strcmp(argv[1], "renumber"))
    op_renumber(map);
  op_par_loop(set, "numbers", n, op_arg_idx(-1, OP_ID), op_arg_dat(x, -1, OP_ID, 2, "double", OP_WRITE));
  if (argc > 2 && !strcmp(argv[1], "rounds")) {
    double sum = 0;
    for (int round = 0; round < atoi(argv[2]); round++) {
      op_par_loop(update, "update", n, op_arg_dat(y, -1, OP_ID, 2, "double", OP_RW),
                  op_arg_dat(counts, -1, OP_ID, 1, "float", OP_READ));
      op_par_loop(spread, "spread", c, op_arg_dat(x, 1, map, 2, "double", OP_READ),
                  op_arg_dat(y, 0, map, 2, "double", OP_INC), op_arg_dat(y, 2, map, 2, "double", OP_INC),
                  op_arg_dat(counts, 1, map, 1, "float", OP_INC), op_arg_dat(ints, 0, map, 3, "int", OP_INC));
      op_par_loop(add, "add", n, op_arg_dat(y, -1, OP_ID, 2, "double", OP_READ), op_arg_gbl(&sum, 1, "double", OP_INC));
      scale = round;
    }
    op_exit();
    return 0;
  }
  op_par_loop(number, "number", c, op_arg_idx(-1, OP_ID), op_arg_idx(2, map),
              op_arg_dat(own, -1, OP_ID, 3, "int", OP_WRITE));
  for (int round = 0; round < 3; round++) {
    op_par_loop(spread, "spread", c, op_arg_dat(x, 1, map, 2, "double", OP_READ),
                op_arg_dat(y, 0, map, 2, "double", OP_INC), op_arg_dat(y, 2, map, 2, "double", OP_INC),
                op_arg_dat(counts, 1, map, 1, "float", OP_INC), op_arg_dat(ints, 0, map, 3, "int", OP_INC));
    op_par_loop(collect, "collect", c, op_arg_dat(y, -3, map, 2, "double", OP_INC),
                op_arg_dat(x, -3, map, 2, "double", OP_READ), op_arg_dat(z, -1, OP_ID, 1, "double", OP_WRITE));
    op_par_loop(update, "update", n, op_arg_dat(y, -1, OP_ID, 2, "double", OP_RW),
                op_arg_dat(counts, -1, OP_ID, 1, "float", OP_READ));
    op_par_loop(exchange, "exchange", c, op_arg_dat(y, 1, map, 2, "double", OP_RW),
                op_arg_dat(own, -1, OP_ID, 3, "int", OP_READ));
    op_par_loop(print, "print", n, op_arg_dat(y, -1, OP_ID, 2, "double", OP_READ));
    double sums[2] = {1, 2}, by[2] = {3, double(round)};
    int least = 100;
    float most = -100;
    op_par_loop(reduce, "reduce", c, op_arg_dat(x, 0, map, 2, "double", OP_READ),
                op_arg_dat(own, -1, OP_ID, 3, "int", OP_READ), op_arg_gbl(sums, 2, "double", OP_INC),
                op_arg_gbl(&least, 1, "int", OP_MIN), op_arg_gbl(&most, 1, "float", OP_MAX),
                op_arg_gbl(by, 2, "double", OP_READ));
    printf("sums %g %g, least %d, most %g\n", sums[0], sums[1], least, most);
    scale += 1, table[1] += round, small *= 2;
    if (round == 1) {
      std::vector<double> some(2 * 3);
      op_fetch_data_idx(y, some.data(), 10, 12);
      for (double one : some)
        printf("%g ", one);
      printf("\n");
    }
  }
  for (op_dat one : {x, y, z}) {
    std::vector<double> all(one->set->size * one->dim);
    op_fetch_data(one, all.data());
    double sum = 0;
    for (size_t at = 0; at < all.size(); at++)
      sum += all[at] * (at % 11);
    printf("%s %.17g\n", one->name, sum);
  }
  op_dump_dat(counts);
  op_dump_dat(ints);
  op_dump_dat(own);
  op_print_dat_to_txtfile(y, "devices.txt");
  op_exit();
}
// CHECK: sums 1 3002, least 0, most 4
