// What loops on a device add to elements through maps comes there by atomic operations, colour by colour, or block by block, as
// OKL_INCREMENTS says: the same values each time, and but for the first way the same bits in each run. What blocks cannot add
// is added colour by colour.
//
// RUN: clang++-22 -std=c++11 -O2 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.plain
// RUN: %t.plain > %t.expected && FileCheck %s < %t.expected
// RUN: %okl-c++ -std=c++11 -O2 --okl-target=cuda,cpu --okl-strict %s -o %t
// RUN: for way in atomics colours blocks; do OKL_INCREMENTS=$way OKL_BACKEND=cuda-emulated %t > %t.found && cmp %t.expected %t.found || exit 1; done
// RUN: for way in colours blocks; do OP_AUTO_SOA=1 OKL_INCREMENTS=$way OKL_BACKEND=cuda-emulated %t > %t.found && cmp %t.expected %t.found || exit 1; done
// RUN: for n in 2 3; do for way in colours blocks; do OKL_INCREMENTS=$way OKL_BACKEND=cuda-emulated mpirun --allow-run-as-root --oversubscribe -n $n %t > %t.found && cmp %t.expected %t.found || exit 1; done; done
//
// In whatever order blocks run, sums are rounded in the same way; on ranks, too.
// RUN: for seed in 1 2 3; do for way in colours blocks; do OKL_PTX_MACHINE=seed=$seed OKL_INCREMENTS=$way OKL_BACKEND=cuda-emulated %t rounded > %t.$way.$seed; done; done
// RUN: for way in colours blocks; do cmp %t.$way.1 %t.$way.2 && cmp %t.$way.1 %t.$way.3 || exit 1; done
// RUN: OKL_REPRODUCIBLE=1 OKL_BACKEND=cuda-emulated %t rounded > %t.found && cmp %t.blocks.1 %t.found
// RUN: for seed in 1 2; do OKL_PTX_MACHINE=seed=$seed OKL_REPRODUCIBLE=1 OKL_BACKEND=cuda-emulated mpirun --allow-run-as-root --oversubscribe -n 2 %t rounded > %t.ranks.$seed; done; cmp %t.ranks.1 %t.ranks.2
// RUN: for seed in 1 2; do OKL_PTX_MACHINE=seed=$seed OKL_INCREMENTS=atomics OKL_BACKEND=cuda-emulated %t rounded > %t.atomics.$seed; done; not cmp -s %t.atomics.1 %t.atomics.2
//
// Which kernels run, how often, and by which operations.
// RUN: OKL_PTX_MACHINE=counts OKL_INCREMENTS=atomics OKL_BACKEND=cuda-emulated %t 2>&1 | grep okl-ptx-machine | FileCheck --check-prefix=AT-ONCE --implicit-check-not='_staged:' --implicit-check-not=_apart: %s
// RUN: OKL_PTX_MACHINE=counts OKL_INCREMENTS=colours OKL_BACKEND=cuda-emulated %t 2>&1 | grep okl-ptx-machine | FileCheck --check-prefix=COLOURS --implicit-check-not='_staged:' --implicit-check-not=' atomic ' %s
// RUN: OKL_PTX_MACHINE=counts OKL_INCREMENTS=blocks OKL_BACKEND=cuda-emulated %t 2>&1 | grep okl-ptx-machine | FileCheck --check-prefix=BLOCKS --implicit-check-not=' atomic ' %s
//
// RUN: OKL_INCREMENTS=colors OKL_BACKEND=cuda-emulated not %t 2>&1 | FileCheck --check-prefix=VALUE %s
// RUN: OKL_INCREMENTS=atomics OKL_REPRODUCIBLE=1 OKL_BACKEND=cuda-emulated not %t 2>&1 | FileCheck --check-prefix=BOTH %s
//
// AT-ONCE-DAG: {{4wide[A-Za-z0-9_]*}}_{{[0-9]}}: launches 1,{{.*}} atomic {{[1-9]}}
// AT-ONCE-DAG: {{5mixed[A-Za-z0-9_]*}}_{{[0-9]}}: launches 2,{{.*}} atomic {{[1-9]}}
// AT-ONCE-DAG: {{5sides[A-Za-z0-9_]*}}_{{[0-9]}}: launches 3,{{.*}} atomic {{[1-9]}}
// COLOURS-DAG: {{5mixed[A-Za-z0-9_]*}}_apart: launches
// COLOURS-DAG: {{5sides[A-Za-z0-9_]*}}_apart: launches
// BLOCKS-DAG:  {{4wide[A-Za-z0-9_]*}}_apart: launches
// BLOCKS-DAG:  {{5mixed[A-Za-z0-9_]*}}_staged: launches {{[4-9]}},
// BLOCKS-DAG:  {{5moves[A-Za-z0-9_]*}}_{{[0-9]}}: launches
// BLOCKS-DAG:  {{5sides[A-Za-z0-9_]*}}_staged: launches {{[6-9]}},
// BLOCKS-DAG:  {{6others[A-Za-z0-9_]*}}_apart: launches
// VALUE: OKL_INCREMENTS=colors: valid values are atomics, colours and blocks
// BOTH: OKL_INCREMENTS=atomics: with OKL_REPRODUCIBLE=1 valid values are colours and blocks
#include "op_seq.h"
#include <cstdio>
#include <cstring>
#include <vector>

static int const edges = 1900, cells = 700, corners = 13;
static double scale = 1;

static void set(int const *own, double *x) { x[0] = (*own % 17 - 8) * scale, x[1] = *own % 5 * scale; }
// The same data twice, of two components each, and others of another type, which may be left out.
static void sides(double const *x, double *one, double *other, int *count) {
  one[0] += x[0], one[1] += x[1], other[0] -= x[1], other[1] += 2 * x[0];
  if (count)
    count[0] += 1, count[2] -= 2;
}
// Several elements at once, beside one more of them; a global sum; single precision.
static void mixed(double const *x, double **all, float *c, double *sum) {
  for (int k = 0; k < 3; k++)
    all[k][0] += k * x[0], all[k][1] += x[1];
  *c += (float)x[0], *sum += x[1];
}
// More than blocks have room for.
static void wide(double const *x, double **all) {
  for (int k = 0; k < corners; k++)
    all[k][k % 2] += x[0];
}
// What seems to be the same data, and is not.
static void others(double const *x, double *one, double *other) { one[0] += x[0], other[1] += x[1]; }
// The same data twice, of which the first may be left out.
static void either(double const *x, double *one, double *other) {
  if (one)
    one[0] += x[0];
  other[1] += x[1];
}
// What is written in another way, too, where it is there.
static void moves(double const *x, double *one, double *other) {
  if (one)
    one[1] = -one[1];
  other[0] += x[0];
}

static void show(op_dat dat, char const *name) {
  std::vector<double> all(2 * cells);
  op_fetch_data(dat, all.data());
  double sum = 0;
  unsigned long long bits = 0;
  for (size_t at = 0; at < all.size(); at++) {
    unsigned long long word;
    memcpy(&word, &all[at], sizeof word);
    sum += all[at] * (at % 11), bits = bits * 31 + word;
  }
  op_printf("%s %g %llx\n", name, sum, bits);
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  if (argc > 1)
    scale = 0.1;
  op_set e = op_decl_set(edges, "edges"), c = op_decl_set(cells, "cells");
  std::vector<int> rows, far, own;
  for (int at = 0; at < edges; at++) {
    for (int k = 0; k < 3; k++)
      rows.push_back((at / 3 + k * (1 + at % 4)) % cells);
    for (int k = 0; k < corners; k++)
      far.push_back((at * 11 + k * 50) % cells);
    own.push_back(at % cells);
  }
  op_map map = op_decl_map(e, c, 3, rows.data(), "map"), wider = op_decl_map(e, c, corners, far.data(), "wider");
  op_dat x = op_decl_dat(e, 2, "double", (double *)NULL, "x");
  op_dat y = op_decl_dat(c, 2, "double", (double *)NULL, "y"), z = op_decl_dat(c, 2, "double", (double *)NULL, "z");
  op_dat count = op_decl_dat(c, 3, "int", (int *)NULL, "count"), f = op_decl_dat(c, 1, "float", (float *)NULL, "f");
  op_par_loop(set, "set", e, op_arg_idx(-1, OP_ID), op_arg_dat(x, -1, OP_ID, 2, "double", OP_WRITE));
  double sum = 0;
  for (int round = 0; round < 3; round++) {
    op_par_loop(sides, "sides", e, op_arg_dat(x, -1, OP_ID, 2, "double", OP_READ),
                op_arg_dat(y, 0, map, 2, "double", OP_INC), op_arg_dat(y, 1, map, 2, "double", OP_INC),
                op_opt_arg_dat(round != 1, count, 2, map, 3, "int", OP_INC));
    if (round != 1)
      op_par_loop(mixed, "mixed", e, op_arg_dat(x, -1, OP_ID, 2, "double", OP_READ),
                  op_arg_dat(z, -3, map, 2, "double", OP_INC), op_arg_dat(f, 1, map, 1, "float", OP_INC),
                  op_arg_gbl(&sum, 1, "double", OP_INC));
  }
  op_par_loop(wide, "wide", e, op_arg_dat(x, -1, OP_ID, 2, "double", OP_READ),
              op_arg_dat(z, -13, wider, 2, "double", OP_INC));
  op_dat which = y;
  op_arg one = op_arg_dat(which, 0, map, 2, "double", OP_INC);
  which = z;
  op_arg other = op_arg_dat(which, 1, map, 2, "double", OP_INC);
  op_par_loop(others, "others", e, op_arg_dat(x, -1, OP_ID, 2, "double", OP_READ), one, other);
  show(y, "y"), show(z, "z");
  for (int round = 0; round < 2; round++)
    op_par_loop(either, "either", e, op_arg_dat(x, -1, OP_ID, 2, "double", OP_READ),
                op_opt_arg_dat(round, y, 0, map, 2, "double", OP_INC), op_arg_dat(y, 1, map, 2, "double", OP_INC));
  for (int round = 0; round < 2; round++)
    op_par_loop(moves, "moves", e, op_arg_dat(x, -1, OP_ID, 2, "double", OP_READ),
                op_opt_arg_dat(round, y, 2, map, 2, "double", OP_RW), op_arg_dat(z, 0, map, 2, "double", OP_INC));
  std::vector<int> counts(3 * cells);
  op_fetch_data(count, counts.data());
  long total = 0;
  for (size_t at = 0; at < counts.size(); at++)
    total += counts[at] * long(at % 7);
  std::vector<float> floats(cells);
  op_fetch_data(f, floats.data());
  double all = 0;
  for (size_t at = 0; at < floats.size(); at++)
    all += double(floats[at]) * (at % 13);
  op_printf("counts %ld, floats %.17g\n", total, all);
  if (scale == 1) {
    op_printf("sum %g\n", sum);
    show(y, "y");
  }
  show(z, "z");
  op_exit();
}
// CHECK: sum {{-?[0-9]+}}
