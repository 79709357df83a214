// With OKL_REPRODUCIBLE=1 doubles that loops add up have the same bits on any number of ranks and threads, however the mesh is
// divided, with lanes or without: increments through maps are those of one rank that runs its elements in their order, sums
// are exact until they are rounded, and other global arguments go from element to element. Without it they differ.
//
// RUN: clang++-22 -std=c++11 -O3 -march=native -I%op2-include -fpass-plugin=%plugin %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: OKL_REPRODUCIBLE=1 %t > %t.expected && FileCheck --match-full-lines %s < %t.expected
// RUN: for n in 1 2 3 4; do for threads in 1 3; do OMP_NUM_THREADS=$threads OKL_REPRODUCIBLE=1 mpirun --allow-run-as-root --oversubscribe --bind-to none -n $n %t > %t.found && cmp %t.expected %t.found || exit 1; done; done
// RUN: for n in 1 3; do OP_AUTO_SOA=1 OKL_REPRODUCIBLE=1 mpirun --allow-run-as-root --oversubscribe --bind-to none -n $n %t > %t.found && cmp %t.expected %t.found || exit 1; done
// RUN: for way in PTSCOTCH EXTERNAL OVERLAY; do OKL_REPRODUCIBLE=1 mpirun --allow-run-as-root --oversubscribe -n 3 %t $way 2> %t.error > %t.found && cmp %t.expected %t.found || exit 1; done
// RUN: (OMP_NUM_THREADS=3 OKL_REPRODUCIBLE=1 %t; OKL_REPRODUCIBLE=1 OKL_BACKEND=seq %t; OKL_REPRODUCIBLE=1 %t OVERLAY) > %t.found && cat %t.expected %t.expected %t.expected | cmp - %t.found
// RUN: OKL_REPRODUCIBLE=1 %t RENUMBER 2>&1 > %t.found | FileCheck --check-prefix=RENUMBER %s && cmp %t.expected %t.found
// RUN: OKL_REPRODUCIBLE=0 mpirun --allow-run-as-root --oversubscribe -n 3 %t > %t.found && not cmp %t.expected %t.found
// RUN: OKL_REPRODUCIBLE=yes not %t 2>&1 | FileCheck --check-prefix=VALUE %s
// RUN: OKL_REPRODUCIBLE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t SWAP 2>&1 | FileCheck --check-prefix=SWAP %s
// RUN: (OKL_REPRODUCIBLE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t FOREIGN 2>&1; true) | FileCheck --check-prefix=FOREIGN %s
//
// FOREIGN: okl: op_par_loop: OKL_REPRODUCIBLE needs okl's op_seq.h: compile the program with it
// SWAP: okl: warning: {{.*}}: op_par_loop swap: OKL_REPRODUCIBLE: with OP_RW of several elements through maps results may depend on the number of ranks
// SWAP-NOT: okl:
// RENUMBER: okl: warning: {{.*}}: op_renumber: the mesh stays as it is: with OKL_REPRODUCIBLE loops run in the program's order
// VALUE: okl: {{.*}}OKL_REPRODUCIBLE=yes: valid values are 0 and 1
#include "op_seq.h"

#include <cstdint>
#include <vector>

template <typename T> static void show(char const *what, T const *data, size_t count) {
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t k = 0; k < count * sizeof(T); k++)
    hash = (hash ^ ((unsigned char const *)data)[k]) * 0x100000001b3;
  op_printf("%s %016llx %.17g\n", what, (unsigned long long)hash, (double)data[0]);
}

// In one step where the processor can; twice to the same component; through all of a row.
static void flow(double const *w, double const *a, double const *b, double *x, double *y) {
  *x += *w * *b;
  *y += *w;
  *y -= *w * *a;
}
static void around(double const *own, double **corners, float *light) {
  for (int k = 0; k < 3; k++)
    corners[k][0] += *own / (k + 3);
  *light += (float)*own * 0.1f;
}
static void settle(double *change, double *value, double *sums, float *light, double *least, double *most, int *count) {
  *value = *value * 0.75 + *change;
  *change *= 0.5;
  sums[0] += *value;
  sums[1] += *value * *value;
  sums[2] -= *change;
  *light += (float)*value;
  if (*value < *least)
    *least = *value;
  if (*value > *most)
    *most = *value;
  *count += *value > 0;
}
static void huge(int const *n, double *sum) { *sum += *n == 5 ? 1e300 : *n == 700 ? -1e300 : 1; }
static void mixed(double const *w, double *there, double *sum) {
  *there += *w;
  *sum += *w * *w;
}
static void blend(double const *value, double *x, double *all) {
  *x += *value;
  *all = *all * 0.999 + *value;
}
struct pair {
  double a, b;
};
static void pairs(double const *value, pair *sum) {
  sum->a += *value;
  sum->b += *value * sum->a;
}
static void direct(double const *value, double *own) { *own += *value * *value; }

static void swap(double *a, double *b) {
  double const old = *a;
  *a = *b;
  *b = old;
}

static unsigned state = 1;
static double number() {
  state = state * 1664525u + 1013904223u;
  return (state >> 4) / 1e8 - 1;
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  std::string const way = argc > 1 ? argv[1] : "";
  int const CELLS = 1801, EDGES = 4999;
  std::vector<int> ends(2 * EDGES), corners(3 * CELLS), owner(CELLS);
  std::vector<double> weights(EDGES), values(CELLS);
  for (int e = 0; e < EDGES; e++) {
    ends[2 * e] = e % 3 ? (int)((long long)e * CELLS / EDGES) : (int)(fabs(number()) * 1e6) % CELLS;
    ends[2 * e + 1] = (ends[2 * e] + 1 + (int)(fabs(number()) * 1e6) % 40) % CELLS;
    weights[e] = number();
  }
  for (int c = 0; c < CELLS; c++) {
    values[c] = number();
    owner[c] = c * 7 % 3;
    for (int k = 0; k < 3; k++)
      corners[3 * c + k] = (c + k * 17 + (int)(fabs(number()) * 1e6) % 5) % CELLS;
  }
  op_set cells = op_decl_set(CELLS, "cells"), edges = op_decl_set(EDGES, "edges");
  op_map map = op_decl_map(edges, cells, 2, ends.data(), "map"), near = op_decl_map(cells, cells, 3, corners.data(), "near");
  op_dat weight = op_decl_dat(edges, 1, "double", weights.data(), "weight");
  op_dat value = op_decl_dat(cells, 1, "double", values.data(), "value");
  op_dat change = op_decl_dat(cells, 1, "double", (double *)NULL, "change");
  op_dat extra = op_decl_dat(cells, 1, "double", (double *)NULL, "extra");
  op_dat owners = op_decl_dat(cells, 1, "int", owner.data(), "owners");
  if (way == "PTSCOTCH")
    op_partition("PTSCOTCH", "KWAY", edges, map, NULL);
  if (way == "EXTERNAL")
    op_partition("EXTERNAL", "", cells, NULL, owners);
  if (way == "OVERLAY")
    op_decl_dat_overlay(cells, owners);
  if (way == "RENUMBER")
    op_renumber(map);

  if (way == "SWAP")
    for (int round = 0; round < 2; round++)
      op_par_loop(swap, "swap", edges, op_arg_dat(value, 0, map, 1, "double", OP_RW),
                  op_arg_dat(value, 1, map, 1, "double", OP_RW));

  if (way == "FOREIGN") {
    // What the loops of OP2's own header call.
    op_arg adds[] = {op_arg_dat(change, 0, map, 1, "double", OP_INC)};
    op_mpi_halo_exchanges(edges, 1, adds);
  }

  // What the first round of increments is if elements run one after the other.
  std::vector<double> expected(CELLS), found(CELLS);
  for (int e = 0; e < EDGES; e++)
    flow(&weights[e], &values[ends[2 * e]], &values[ends[2 * e + 1]], &expected[ends[2 * e]], &expected[ends[2 * e + 1]]);

  double sums[3] = {0.1, 0, 0}, least = 1e9, most = -1e9, all = 1, mean = 0, own = 0;
  float light = 0.1f;
  int count = 0;
  pair both = {0, 0};
  for (int round = 0; round < 5; round++) {
    op_par_loop(flow, "flow", edges, op_arg_dat(weight, -1, OP_ID, 1, "double", OP_READ),
                op_arg_dat(value, 0, map, 1, "double", OP_READ), op_arg_dat(value, 1, map, 1, "double", OP_READ),
                op_arg_dat(change, 0, map, 1, "double", OP_INC), op_arg_dat(change, 1, map, 1, "double", OP_INC));
    if (round == 0) {
      op_fetch_data(change, found.data());
      // CHECK: as one after the other 1
      op_printf("as one after the other %d\n", !memcmp(found.data(), expected.data(), CELLS * sizeof(double)));
    }
    op_par_loop(around, "around", cells, op_arg_dat(value, -1, OP_ID, 1, "double", OP_READ),
                op_arg_dat(change, -3, near, 1, "double", OP_INC), op_arg_gbl(&light, 1, "float", OP_INC));
    op_par_loop(settle, "settle", cells, op_arg_dat(change, -1, OP_ID, 1, "double", OP_RW),
                op_arg_dat(value, -1, OP_ID, 1, "double", OP_RW), op_arg_gbl(sums, 3, "double", OP_INC),
                op_arg_gbl(&light, 1, "float", OP_INC), op_arg_gbl(&least, 1, "double", OP_MIN),
                op_arg_gbl(&most, 1, "double", OP_MAX), op_arg_gbl(&count, 1, "int", OP_INC));
    op_par_loop(mixed, "mixed", edges, op_arg_dat(weight, -1, OP_ID, 1, "double", OP_READ),
                op_arg_dat(extra, 1, map, 1, "double", OP_INC), op_arg_gbl(&mean, 1, "double", OP_INC));
    op_par_loop(blend, "blend", cells, op_arg_dat(value, -1, OP_ID, 1, "double", OP_READ),
                op_arg_dat(extra, 2, near, 1, "double", OP_INC), op_arg_gbl(&all, 1, "double", OP_RW));
    op_par_loop(pairs, "pairs", cells, op_arg_dat(value, -1, OP_ID, 1, "double", OP_READ),
                op_arg_gbl_char((char *)&both, 1, "pair", sizeof both, OP_INC));
    op_par_loop(direct, "direct", cells, op_arg_dat(value, -1, OP_ID, 1, "double", OP_READ),
                op_arg_dat(extra, -1, OP_ID, 1, "double", OP_INC));
  }
  op_par_loop(huge, "huge", cells, op_arg_idx(-1, OP_ID), op_arg_gbl(&own, 1, "double", OP_INC));
  // CHECK: exact 1799
  op_printf("exact %g\n", own);
  op_fetch_data(change, found.data());
  show("change", found.data(), CELLS);
  op_fetch_data(value, found.data());
  show("value", found.data(), CELLS);
  op_fetch_data(extra, found.data());
  show("extra", found.data(), CELLS);
  show("sums", sums, 3);
  show("light", &light, 1);
  show("least", &least, 1);
  show("most", &most, 1);
  show("count", &count, 1);
  show("mean", &mean, 1);
  show("all", &all, 1);
  show("pair", &both.a, 2);
  op_exit();
  return 0;
}
