// The same program on 1 to 4 ranks, with every kind of argument, every way to distribute the mesh, other numbers, threads, and data, sets
// and maps that are declared late: all that it prints and writes is what one process prints and writes. All numbers are
// whole, so that the order of additions makes no difference.
//
// RUN: clang++-22 -std=c++11 -O2 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.plain
// RUN: clang++-22 -std=c++11 -O3 -march=native -I%op2-include -fpass-plugin=%plugin %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.okl
// RUN: cd $(dirname %t) && %t.plain none > %t.expected && FileCheck %s < %t.expected && cat nodes.txt cells.bin >> %t.expected
// RUN: cd $(dirname %t) && for n in 1 2 3 4; do rm -f nodes.txt cells.bin; mpirun --allow-run-as-root --oversubscribe -n $n %t.okl none > %t.found && cat nodes.txt cells.bin >> %t.found && cmp %t.expected %t.found || exit 1; done
// RUN: cd $(dirname %t) && for n in 2 4; do rm -f nodes.txt cells.bin; mpirun --allow-run-as-root --oversubscribe -n $n %t.plain none > %t.found && cat nodes.txt cells.bin >> %t.found && cmp %t.expected %t.found || exit 1; done
// RUN: cd $(dirname %t) && for way in block coordinates points owners one graph; do mpirun --allow-run-as-root --oversubscribe -n 3 %t.okl $way > %t.found && cat nodes.txt cells.bin >> %t.found && cmp %t.expected %t.found || exit 1; done
// RUN: cd $(dirname %t) && OMP_NUM_THREADS=3 mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 %t.okl coordinates > %t.found && cat nodes.txt cells.bin >> %t.found && cmp %t.expected %t.found
// RUN: cd $(dirname %t) && for way in coordinates points; do OP_AUTO_SOA=1 mpirun --allow-run-as-root --oversubscribe -n 3 %t.okl $way > %t.found && cat nodes.txt cells.bin >> %t.found && cmp %t.expected %t.found || exit 1; done
// RUN: cd $(dirname %t) && OKL_BACKEND=seq %t.okl none > %t.found && cat nodes.txt cells.bin >> %t.found && cmp %t.expected %t.found
// RUN: cd $(dirname %t) && for run in 'plain 1' 'plain 2' 'okl 3'; do set -- $run; mpirun --allow-run-as-root --oversubscribe --bind-to none -n $2 %t.$1 graph renumber > %t.found && cat nodes.txt cells.bin >> %t.found && cmp %t.expected %t.found || exit 1; done
// RUN: cd $(dirname %t) && OMP_NUM_THREADS=3 %t.okl none renumber > %t.found && cat nodes.txt cells.bin >> %t.found && cmp %t.expected %t.found
#include "op_seq.h"

#include <cstdint>
#include <vector>

static const int W = 53, H = 41, CELLS = W * H, NODES = (W + 1) * (H + 1);

static void show(char const *what, void const *data, size_t bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t k = 0; k < bytes; k++)
    hash = (hash ^ ((unsigned char const *)data)[k]) * 0x100000001b3;
  op_printf("%s %016llx\n", what, (unsigned long long)hash);
}
static void show(char const *what, op_dat dat) {
  std::vector<char> all((size_t)dat->set->size * dat->size);
  op_fetch_data(dat, all.data());
  show(what, all.data(), all.size());
}

static void corners(double const *a, double const *b, double const *c, double const *own, double *out) {
  *out = *a + 3 * *b - *c + *own;
}
static void spread(double const *own, double *a, double **all) {
  *a += *own;
  for (int k = 0; k < 3; k++)
    all[k][0] += k + *own;
}
static void largest(int const *n, int *seen) {
  if (*seen < *n)
    *seen = *n;
}
static void number(int const *n, int const *corner, int *out) { *out = *n * 10000 + *corner; }
static void reach(double const *left, double const *right, double *out, double *sum, int *counts, double *least) {
  *out = *left - *right;
  *sum += *out;
  counts[(int)fabs(*out) % 100]++;
  if (*out < *least)
    *least = *out;
}
// Both a result and what elements of others would change, too.
static void sums(double const *own, double *at, double *sum, int *count) {
  *at += 1;
  *sum += *own;
  *count += 1;
}
static void extremes(int const *value, int const *n, int *most, int *where, int *least, int *tag, int *other) {
  if (*value > *most) {
    *most = *value;
    *where = *n;
  }
  if (*value < *least) {
    *least = *value;
    *tag = 5000 - *n;
    *other = *n % 7;
  }
}
static void counts_all(double const *own, int *count) { *count += 1 + (*own < -1e9); }
static void marks(int const *n, int *mark) {
  if (*n == 700)
    *mark = 42;
}
struct pair {
  int a;
  double b;
};
static void pairs(double const *own, double *at, pair *sum) {
  sum->a++;
  sum->b += *own;
  *at += 1;
}
static void optional(double *out, double const *extra) {
  *out += 2;
  if (extra)
    *out += *extra;
}
static void put(int const *n, double *there) { *there = *n + 0.5; }
static void twice(double *x) { *x *= 2; }
static void far(double const *x, double *out) { *out += *x; }

static void first_least(int const *value, int const *number, int *calls, int *least, int *where) {
  *calls += 1;
  if (*value < *least)
    *least = *value, *where = *number;
}
static void take_turn(int *turn, double *one, double *other) {
  *turn += 1;
  *one += *turn, *other -= *turn % 100;
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  char const *way = argv[1];
  op_set nodes = op_decl_set(NODES, "nodes"), cells = op_decl_set(CELLS, "cells"), edges = op_decl_set(CELLS - 1, "edges");
  std::vector<int> corner(3 * CELLS), ends(2 * (CELLS - 1)), owners(CELLS), own_node(CELLS);
  std::vector<double> place(2 * NODES), node_value(NODES), cell_value(CELLS);
  for (int j = 0; j < H; j++)
    for (int i = 0; i < W; i++) {
      int cell = j * W + i, first = j * (W + 1) + i;
      corner[3 * cell] = first, corner[3 * cell + 1] = first + 1, corner[3 * cell + 2] = first + W + 1;
      owners[cell] = (cell / 5 * 7) % 3;
      own_node[cell] = NODES - 1 - first;
      cell_value[cell] = cell % 29;
    }
  for (int e = 0; e < CELLS - 1; e++)
    ends[2 * e] = e, ends[2 * e + 1] = e % 10 ? e + 1 : (e * 37) % CELLS;
  for (int n = 0; n < NODES; n++)
    place[2 * n] = n % (W + 1), place[2 * n + 1] = n / (W + 1), node_value[n] = n % 31;
  op_map to_nodes = op_decl_map(cells, nodes, 3, corner.data(), "to_nodes");
  op_map to_cells = op_decl_map(edges, cells, 2, ends.data(), "to_cells");
  op_dat x = op_decl_dat(nodes, 2, "double", place.data(), "x");
  op_dat owner = op_decl_dat(cells, 1, "int", owners.data(), "owner");
  op_dat node = op_decl_dat(nodes, 1, "double", node_value.data(), "node");
  op_dat cell = op_decl_dat(cells, 1, "double", cell_value.data(), "cell");
  op_dat seen = op_decl_dat(nodes, 1, "int", (int *)NULL, "seen");
  op_dat numbers = op_decl_dat(cells, 1, "int", (int *)NULL, "numbers");
  op_dat jump = op_decl_dat(edges, 1, "double", (double *)NULL, "jump");
  if (!strcmp(way, "block"))
    op_partition("BLOCK", "", edges, NULL, NULL);
  if (!strcmp(way, "coordinates"))
    op_partition("", "", edges, to_cells, x);
  if (!strcmp(way, "graph"))
    op_partition("PTSCOTCH", "KWAY", edges, to_cells, NULL);
  if (!strcmp(way, "points"))
    op_partition("GEOM", "", NULL, NULL, x);
  if (!strcmp(way, "owners"))
    op_partition("EXTERNAL", "", cells, NULL, owner);
  if (!strcmp(way, "one")) {
    op_dat first = op_decl_dat(cells, 1, "int", (int *)NULL, "first");
    op_partition("EXTERNAL", "", cells, NULL, first);
  }
  if (argc > 2)
    op_renumber(to_cells);
  // CHECK: sizes 2173 2268
  op_printf("sizes %lld %d\n", op_get_size(cells), nodes->size);

  for (int round = 0; round < 3; round++) {
    op_par_loop(corners, "corners", cells, op_arg_dat(node, 0, to_nodes, 1, "double", OP_READ),
                op_arg_dat(node, 1, to_nodes, 1, "double", OP_READ), op_arg_dat(node, 2, to_nodes, 1, "double", OP_READ),
                op_arg_dat(cell, -1, OP_ID, 1, "double", OP_READ), op_arg_dat(cell, -1, OP_ID, 1, "double", OP_WRITE));
    op_par_loop(spread, "spread", cells, op_arg_dat(cell, -1, OP_ID, 1, "double", OP_READ),
                op_arg_dat(node, 1, to_nodes, 1, "double", OP_INC), op_arg_dat(node, -3, to_nodes, 1, "double", OP_INC));
    op_par_loop(largest, "largest", cells, op_arg_idx(-1, OP_ID), op_arg_dat(seen, 2, to_nodes, 1, "int", OP_RW));
    op_par_loop(number, "number", cells, op_arg_idx(-1, OP_ID), op_arg_idx(2, to_nodes),
                op_arg_dat(numbers, -1, OP_ID, 1, "int", OP_WRITE));
    double sum = 1, least = 1e9;
    int counts[100] = {5};
    op_par_loop(reach, "reach", edges, op_arg_dat(cell, 0, to_cells, 1, "double", OP_READ),
                op_arg_dat(cell, 1, to_cells, 1, "double", OP_READ), op_arg_dat(jump, -1, OP_ID, 1, "double", OP_WRITE),
                op_arg_gbl(&sum, 1, "double", OP_INC), op_arg_gbl(counts, 100, "int", OP_INC),
                op_arg_gbl(&least, 1, "double", OP_MIN));
    op_printf("reach %g %g\n", sum, least);
    show("counts", counts, sizeof counts);
    int count = 3;
    op_par_loop(sums, "sums", edges, op_arg_dat(jump, -1, OP_ID, 1, "double", OP_READ),
                op_arg_dat(cell, 1, to_cells, 1, "double", OP_INC), op_arg_gbl(&sum, 1, "double", OP_INC),
                op_arg_gbl(&count, 1, "int", OP_INC));
    // CHECK: sums {{.*}} 2175
    op_printf("sums %g %d\n", sum, count);
    show("cell", cell);
    show("node", node);
    show("seen", seen);
    show("numbers", numbers);
    show("jump", jump);
    op_par_loop(twice, "twice", nodes, op_arg_dat(node, -1, OP_ID, 1, "double", OP_RW));
  }

  // Several cells have the extreme values: the first one wins.
  std::vector<int> values(CELLS);
  for (int n = 0; n < CELLS; n++)
    values[n] = n % 97 == 90 ? 1000 : n % 89 == 80 ? -1000 : n % 50;
  op_dat value = op_decl_dat(cells, 1, "int", values.data(), "value");
  int most = 0, where = -1, least = 0, tag = -1, other = -1;
  op_par_loop(extremes, "extremes", cells, op_arg_dat(value, -1, OP_ID, 1, "int", OP_READ), op_arg_idx(-1, OP_ID),
              op_arg_gbl(&most, 1, "int", OP_MAX), op_arg_info(&where, 1, "int", 2), op_arg_gbl(&least, 1, "int", OP_MIN),
              op_arg_info(&tag, 1, "int", 4), op_arg_info(&other, 1, "int", 4));
  // CHECK: extremes 1000 90 -1000 4920 3
  op_printf("extremes %d %d %d %d %d\n", most, where, least, tag, other);

  // What cannot be combined goes from rank to rank.
  int all = 10, mark = -1;
  op_par_loop(counts_all, "counts_all", cells, op_arg_dat(cell, -1, OP_ID, 1, "double", OP_READ),
              op_arg_gbl(&all, 1, "int", OP_RW));
  op_par_loop(marks, "marks", cells, op_arg_idx(-1, OP_ID), op_arg_gbl(&mark, 1, "int", OP_WRITE));
  pair both = {1, 2};
  op_par_loop(pairs, "pairs", edges, op_arg_dat(jump, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(cell, 0, to_cells, 1, "double", OP_INC),
              op_arg_gbl_char((char *)&both, 1, "pair", sizeof both, OP_INC));
  // CHECK: in turn 2183 42 2173
  op_printf("in turn %d %d %d %g\n", all, mark, both.a, both.b);

  // With it goes the first element that has the least value; elements at the border see what all before them have left.
  int calls = 0, first = -1;
  least = 100;
  op_par_loop(first_least, "first_least", cells, op_arg_dat(value, -1, OP_ID, 1, "int", OP_READ), op_arg_idx(-1, OP_ID),
              op_arg_gbl(&calls, 1, "int", OP_RW), op_arg_gbl(&least, 1, "int", OP_MIN), op_arg_info(&first, 1, "int", 3));
  int turn = 0;
  for (int round = 0; round < 2; round++)
    op_par_loop(take_turn, "take_turn", edges, op_arg_gbl(&turn, 1, "int", OP_RW), op_arg_dat(cell, 0, to_cells, 1, "double", OP_INC),
                op_arg_dat(cell, 1, to_cells, 1, "double", OP_INC));
  // CHECK: one after the other 2173 -1000 80, two for each edge
  op_printf("one after the other %d %d %d, %s\n", calls, least, first, turn == 2 * edges->size ? "two for each edge" : "wrong");
  show("turns", cell);

  // Data that come and go.
  op_dat passing = op_decl_dat_temp(cells, 1, "double", (double *)NULL, "passing");
  for (int use = 0; use < 2; use++)
    op_par_loop(optional, "optional", cells, op_arg_dat(passing, -1, OP_ID, 1, "double", OP_RW),
                op_opt_arg_dat(use, node, 1, to_nodes, 1, "double", OP_READ));
  show("passing", passing);
  op_free_dat_temp(passing);

  // A set and maps that are declared after loops, and one that leads from a set to itself.
  int const targets[] = {3, 2000, 77, 0, 1500};
  op_set few = op_decl_set(5, "few"), none = op_decl_set(0, "none");
  op_map chosen = op_decl_map(few, cells, 1, (int *)targets, "chosen"), nobody = op_decl_map(none, cells, 1, (int *)NULL, "nobody");
  op_par_loop(put, "put", few, op_arg_idx(-1, OP_ID), op_arg_dat(cell, 0, chosen, 1, "double", OP_WRITE));
  op_par_loop(put, "none", none, op_arg_idx(-1, OP_ID), op_arg_dat(cell, 0, nobody, 1, "double", OP_WRITE));
  for (int n = 0; n < CELLS; n++)
    owners[n] = (n * 211 + 5) % CELLS;
  op_map across = op_decl_map(cells, cells, 1, owners.data(), "across"), node_of = op_decl_map(cells, nodes, 1, own_node.data(), "node_of");
  op_dat gathered = op_decl_dat(cells, 1, "double", cell_value.data(), "gathered");
  op_par_loop(far, "far", cells, op_arg_dat(cell, 0, across, 1, "double", OP_READ),
              op_arg_dat(gathered, -1, OP_ID, 1, "double", OP_RW));
  op_par_loop(far, "back", cells, op_arg_dat(gathered, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(cell, 0, across, 1, "double", OP_INC));
  op_par_loop(far, "on", cells, op_arg_dat(cell, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(node, 0, node_of, 1, "double", OP_INC));
  show("gathered", gathered);
  show("cell", cell);
  show("node", node);
  double some[4] = {0, 0, 0, -1};
  op_fetch_data_idx(cell, some, 76, 78);
  op_printf("some %g %g %g %g\n", some[0], some[1], some[2], some[3]);
  op_print_dat_to_txtfile(node, "nodes.txt");
  op_print_dat_to_binfile(cell, "cells.bin");
  op_exit();
  return 0;
}
