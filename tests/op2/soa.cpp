// Data that are stored component by component, some or all: every type and way of access, several components and one,
// vector and optional arguments, both ends of an edge at one node, numbers and types of the program's own, temporaries,
// data and sets that are declared late, what comes out of the library. All that is printed and written is what the
// program writes without the plugin, which stores everything element by element. All numbers are whole, so that the
// order of additions makes no difference.
//
// RUN: clang++-22 -std=c++11 -O2 -Wall -Wextra -Werror -DOP_USER_DATATYPES -I%S/api -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.plain
// RUN: cd $(dirname %t) && OP_AUTO_SOA=1 %t.plain > %t.expected 2> %t.told && FileCheck %s < %t.expected && FileCheck --check-prefix=PLAIN --implicit-check-not=warning: %s < %t.told && cat soa.txt soa.bin >> %t.expected
// RUN: clang++-22 -std=c++11 -O3 -march=native -DOP_USER_DATATYPES -I%S/api -I%op2-include -fpass-plugin=%plugin %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: cd $(dirname %t) && %t > %t.found && cat soa.txt soa.bin >> %t.found && cmp %t.expected %t.found
// RUN: cd $(dirname %t) && OP_AUTO_SOA=1 %t > %t.found 2> %t.told && cat soa.txt soa.bin >> %t.found && cmp %t.expected %t.found && FileCheck --check-prefix=TOLD --implicit-check-not=warning: %s < %t.told
// RUN: cd $(dirname %t) && for way in OMP_NUM_THREADS=3 OKL_BACKEND=seq OKL_REPRODUCIBLE=1; do rm soa.*; env $way %t OP_AUTO_SOA > %t.found && cat soa.txt soa.bin >> %t.found && cmp %t.expected %t.found || exit 1; done
// RUN: cd $(dirname %t) && for n in 1 2 3 4; do rm soa.*; OP_AUTO_SOA=1 mpirun --allow-run-as-root --oversubscribe -n $n %t > %t.found && cat soa.txt soa.bin >> %t.found && cmp %t.expected %t.found || exit 1; done
// RUN: cd $(dirname %t) && for way in OKL_REPRODUCIBLE=1 OMP_NUM_THREADS=2; do rm soa.*; env $way OP_AUTO_SOA= mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 %t renumber > %t.found && cat soa.txt soa.bin >> %t.found && cmp %t.expected %t.found || exit 1; done
// RUN: cd $(dirname %t) && rm soa.* && %t renumber OP_AUTO_SOA > %t.found && cat soa.txt soa.bin >> %t.found && cmp %t.expected %t.found
// RUN: cd $(dirname %t) && for way in all OP_NO_REALLOC; do rm soa.*; env OP_AUTO_SOA=1 %t $way > %t.found 2> %t.told && cat soa.txt soa.bin >> %t.found && cmp %t.expected %t.found || exit 1; done; FileCheck --check-prefix=OWN %s < %t.told
// RUN: %t all times | FileCheck --check-prefix=ALL %s
// RUN: %t.plain dump %t.plain.h5 overlay > %t.under && OP_AUTO_SOA=1 %t dump %t.soa.h5 overlay > %t.found 2> %t.told && FileCheck --check-prefix=UNDER %s < %t.told && cmp %t.under %t.found && h5diff %t.plain.h5 %t.soa.h5
// RUN: cd $(dirname %t) && %t times | FileCheck --check-prefix=SOME %s && OP_AUTO_SOA=1 %t times | FileCheck --check-prefix=ALL %s && %t.plain times | FileCheck --check-prefix=NONE --implicit-check-not=soa %s
// RUN: clang++-22 -std=c++17 -O0 -DOP_USER_DATATYPES -I%S/api -I%op2-include -fpass-plugin=%plugin %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.slow
// RUN: cd $(dirname %t) && rm soa.* && OP_AUTO_SOA=1 %t.slow > %t.found && cat soa.txt soa.bin >> %t.found && cmp %t.expected %t.found
// RUN: cd $(dirname %t) && OP_AUTO_SOA=1 %t.slow times | FileCheck --check-prefix=ALL %s
//
// A file of the program that looks at data itself, and one that is compiled without the plugin.
// RUN: clang++-22 -std=c++11 -O3 -march=native -g -DOP_USER_DATATYPES -DLOOKS -I%S/api -I%op2-include -fpass-plugin=%plugin -Rpass-missed=okl %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.looks 2>&1 | FileCheck --check-prefix=REMARK %s
// RUN: cd $(dirname %t) && rm soa.* && OP_AUTO_SOA=1 %t.looks > %t.found 2> %t.told && cat soa.txt soa.bin >> %t.found && cmp %t.expected %t.found && FileCheck --check-prefix=PLAIN --implicit-check-not=warning: %s < %t.told
// RUN: clang++-22 -std=c++11 -O2 -DPART -I%op2-include %s -c -o %t.part.o
// RUN: clang++-22 -std=c++11 -O2 -DOP_USER_DATATYPES -I%S/api -I%op2-include -fpass-plugin=%plugin %s %t.part.o -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.parts
// RUN: cd $(dirname %t) && rm soa.* && OP_AUTO_SOA=1 %t.parts > %t.found 2> %t.told && cat soa.txt soa.bin >> %t.found && cmp %t.expected %t.found && FileCheck --check-prefix=PLAIN --implicit-check-not=warning: %s < %t.told
// RUN: clang++-22 -std=c++11 -O2 -DPART -I%op2-include -fpass-plugin=%plugin -mllvm -okl-target=cpu %s -c -o %t.part.o
// RUN: clang++-22 -std=c++11 -O2 -DOP_USER_DATATYPES -I%S/api -I%op2-include -fpass-plugin=%plugin %s %t.part.o -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.parts
// RUN: OP_AUTO_SOA=1 %t.parts times | FileCheck --check-prefix=ALL %s
//
// What OP_AUTO_SOA asks for where nothing can be done.
// PLAIN: okl: warning: no data are stored component by component: a file of the program may look at op_dat->data, or was compiled without the plugin
// REMARK: soa.cpp:{{[0-9]+}}:{{[0-9]+}}: remark: data stay element by element: the file looks at op_dat->data
//
// TOLD: okl: warning: {{.*}}: both is not stored component by component: op_par_loop twice uses them through several arguments
// TOLD: okl: warning: {{.*}}: assigned is not stored component by component: op_par_loop assign was not compiled for that
// TOLD: okl: warning: {{.*}}: unknown is not stored component by component: op_par_loop unknown was not compiled for that
// TOLD: okl: warning: {{.*}}: rows is not stored component by component: op_par_loop rows was not compiled for that
// TOLD: okl: warning: foreign is not stored component by component: a loop is compiled without the plugin
//
// OWN: okl: warning: {{.*}}: speed is not stored component by component: OP_NO_REALLOC keeps the program's own memory
// UNDER: okl: warning: {{.*}}: sums is not stored component by component: op_decl_dat_overlay lies over them
//
// Threads, lanes, arguments that are stored component by component.
// SOME:     lanes  soa colours
// SOME-DAG: {{ 1 +[0-9-]+ +1 .* flux$}}
// SOME-DAG: {{ 1 +[0-9-]+ +- .* move$}}
// ALL:     lanes  soa colours
// ALL-DAG: {{ 1 +[0-9-]+ +5 .* flux$}}
// ALL-DAG: {{ 1 +[0-9-]+ +3 .* corners$}}
// ALL-DAG: {{ 1 +[0-9-]+ +3 .* move$}}
// ALL-DAG: {{ 1 +[0-9-]+ +- .* twice$}}
// ALL-DAG: {{ 1 +[0-9-]+ +1 .* points$}}
// NONE: calls
#include "op_seq.h"

#ifdef PART
// Nothing but the header.
int part() { return OP_diags; }
#else
#include <cstdint>
#include <vector>

static const int W = 37, H = 23, CELLS = W * H, NODES = (W + 1) * (H + 1), EDGES = 1500;

static void show(char const *what, void const *data, size_t bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t k = 0; k < bytes; k++)
    hash = (hash ^ ((unsigned char const *)data)[k]) * 0x100000001b3;
  op_printf("%s %016llx\n", what, (unsigned long long)hash);
}
static void show(op_dat dat) {
  std::vector<char> all((size_t)dat->set->size * dat->size);
  op_fetch_data_char(dat, all.data());
  show(dat->name, all.data(), all.size());
}

static unsigned long long state = 1;
static int random_number(int below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % below;
}
// Stays, for OP_NO_REALLOC.
template <class T> static std::vector<T> &some(size_t count, int below = 100) {
  std::vector<T> &all = *new std::vector<T>(count);
  for (T &one : all)
    one = (T)random_number(below);
  return all;
}

// Direct: what is read, updated, written in part.
static void move(double const *speed, double *position, double *last) {
  for (int k = 0; k < 2; k++)
    position[k] += speed[k];
  if (position[0] > position[1])
    last[1] = position[0] - position[1];
}
// Mixed with data that stay element by element, and both ends may be one node.
static void flux(double const *a, double const *b, double const *w, double *out, double *in) {
  double f = w[0] * (a[0] - b[1]) + w[2];
  out[0] += f, out[1] -= w[1], out[2] += 1;
  in[0] -= f, in[2] += f > 0 ? 2 : 3;
}
// Pointers to all ends.
static void corners(double **x, float **sums, int const *weight) {
  for (int c = 0; c < 4; c++) {
    sums[c][0] += (float)(weight[1] * x[3 - c][0]);
    sums[c][1] += (float)x[c][1] - weight[0];
  }
}
static void maybe(double const *x, double *y, double **z, double *inc, int const *have) {
  if (have[0])
    y[0] += x[1], y[1] -= x[0];
  if (have[1])
    z[0][1] += 1, z[1][0] += 2;
  if (have[2])
    inc[1] += 3;
}
static void scattered(int const *value, int *to) { to[0] = value[0], to[2] = value[1] + value[2]; }
static void update(ll *to, uint const *by) { to[1] += by[0], to[0] ^= by[1]; }
static void every(float *f, int *i, uint *u, ll *l, ull *v, bool *b) {
  for (int k = 0; k < 3; k++)
    f[k] += k, i[k] -= k, u[k] *= 3, l[k] -= i[k], v[k] += u[k], b[k] = !b[k] || k == 1;
}
static void reduce(double const *x, int const *n, double *sum, double *least, int *first) {
  *sum += x[0] + x[1];
  if (x[0] < *least)
    *least = x[0], *first = *n;
}
static void numbered(int const *n, int const *to, int *out) { out[0] = *n, out[1] = *to; }
static void turns(double *x, int const *count) {
  for (int k = 0; k < count[0]; k++)
    x[k % 2] += k;
}
static void one(double const *x, double *y) { *y = 2 * *x + 1; }
static void strided(double const *x, double *y) {
  for (int k = 0; k < 5; k++)
    OP2_STRIDE(y, k) += OP2_STRIDE(x, 4 - k);
}

// What keeps data from being stored so.
static void twice(double const *x, double *y) { y[0] = x[1] + 1, y[1] = x[0] + 2; }
static void assign(double const *by, double *x) { x[0] = 7, x[1] += by[0]; }
static void given(double *x) { x[1] += 5; }
static void rows(double **x) { x[0][1] += 1, x[1][1] += 2; }

static void points(vertex *p, double const *by) { p[1].place[0] += p[0].place[2], p[0].kind -= (short)by[1]; }

int main(int argc, char **argv) {
  auto says = [=](char const *word) {
    for (int k = 1; k < argc; k++)
      if (!strcmp(argv[k], word))
        return true;
    return false;
  };
  op_init_soa(argc, argv, 1, says("all"));

  op_set cells = op_decl_set(CELLS, "cells"), nodes = op_decl_set(NODES, "nodes"), edges = op_decl_set(EDGES, "edges");
  std::vector<int> corner, end;
  for (int j = 0; j < H; j++)
    for (int i = 0; i < W; i++)
      for (int k = 0; k < 4; k++)
        corner.push_back(i + k % 2 + (j + k / 2) * (W + 1));
  for (int e = 0; e < EDGES; e++) {
    int node = random_number(NODES);
    end.push_back(node), end.push_back(e % 7 == 0 ? node : (node + random_number(40)) % NODES);
  }
  op_map to_corners = op_decl_map(cells, nodes, 4, corner.data(), "corners");
  op_map ends = op_decl_map(edges, nodes, 2, end.data(), "ends");

  op_dat position = op_decl_dat(nodes, 2, "double", some<double>(2 * NODES).data(), "position");
  op_dat speed = op_decl_dat(nodes, 2, "double", some<double>(2 * NODES).data(), "speed");
  op_dat last = op_decl_dat(nodes, 2, "double", (double *)NULL, "last");
  op_dat weight = op_decl_dat(edges, 3, "double:soa", some<double>(3 * EDGES).data(), "weight");
  op_dat sum = op_decl_dat(nodes, 3, "double", (double *)NULL, "sum");
  op_dat sums = op_decl_dat(nodes, 2, "float:soa", (float *)NULL, "sums");
  op_dat kind = op_decl_dat(cells, 2, "int", some<int>(2 * CELLS).data(), "kind");
  op_dat single = op_decl_dat(nodes, 1, "double:soa", some<double>(NODES).data(), "single");
  op_dat five = op_decl_dat(cells, 5, "double:soa", some<double>(5 * CELLS).data(), "five");
  op_dat other = op_decl_dat(cells, 5, "double", some<double>(5 * CELLS).data(), "other");
  op_dat f = op_decl_dat(cells, 3, "float", some<float>(3 * CELLS).data(), "f");
  op_dat i = op_decl_dat(cells, 3, "int:soa", some<int>(3 * CELLS).data(), "i");
  op_dat u = op_decl_dat(cells, 3, "uint", some<uint>(3 * CELLS).data(), "u");
  op_dat l = op_decl_dat(cells, 3, "ll:soa", some<ll>(3 * CELLS).data(), "l");
  op_dat v = op_decl_dat(cells, 3, "ull", some<ull>(3 * CELLS).data(), "v");
  std::vector<char> &truths = some<char>(3 * CELLS, 2);
  op_dat b = op_decl_dat(cells, 3, "bool:soa", (bool *)truths.data(), "b");
  std::vector<vertex> all(2 * NODES);
  for (vertex &one : all)
    one = {{(float)random_number(9), 1, (float)random_number(9)}, (short)random_number(9), 3};
  op_dat places = op_decl_dat(nodes, 2, "vertex:soa", all.data(), "places");
  op_dat both = op_decl_dat(cells, 2, "double", some<double>(2 * CELLS).data(), "both");
  op_dat assigned = op_decl_dat(nodes, 2, "double", some<double>(2 * NODES).data(), "assigned");
  op_dat unknown = op_decl_dat(cells, 2, "double", some<double>(2 * CELLS).data(), "unknown");
  op_dat row = op_decl_dat(nodes, 2, "double", some<double>(2 * NODES).data(), "rows");
  op_dat foreign = op_decl_dat(cells, 2, "double", some<double>(2 * CELLS).data(), "foreign");
  op_dat number = op_decl_dat(cells, 2, "int", (int *)NULL, "number");
  op_partition("", "", nodes, to_corners, position);
  if (says("renumber"))
    op_renumber(to_corners);
#ifdef LOOKS
  op_printf("%s", position->data ? "" : "there are no data\n");
#endif

  for (int round = 0; round < 3; round++) {
    op_par_loop(move, "move", nodes, op_arg_dat(speed, -1, OP_ID, 2, "double", OP_READ),
                op_arg_dat(position, -1, OP_ID, 2, "double", OP_RW), op_arg_dat(last, -1, OP_ID, 2, "double", OP_WRITE));
    op_par_loop(flux, "flux", edges, op_arg_dat(position, 0, ends, 2, "double", OP_READ),
                op_arg_dat(speed, 1, ends, 2, "double", OP_READ), op_arg_dat(weight, -1, OP_ID, 3, "double:soa", OP_READ),
                op_arg_dat(sum, 0, ends, 3, "double", OP_INC), op_arg_dat(sum, 1, ends, 3, "double", OP_INC));
    op_par_loop(corners, "corners", cells, op_arg_dat(position, -4, to_corners, 2, "double", OP_READ),
                op_arg_dat(sums, -4, to_corners, 2, "float:soa", OP_INC), op_arg_dat(kind, -1, OP_ID, 2, "int", OP_READ));
    op_par_loop(strided, "strided", cells, op_arg_dat(other, -1, OP_ID, 5, "double", OP_READ),
                op_arg_dat(five, -1, OP_ID, 5, "double:soa", OP_INC));
    int have[] = {round != 1, round > 0, round < 2};
    op_par_loop(maybe, "maybe", edges, op_opt_arg_dat(have[0], speed, 1, ends, 2, "double", OP_READ),
                op_opt_arg_dat(have[0], weight, -1, OP_ID, 3, "double:soa", OP_RW),
                op_opt_arg_dat(have[1], position, -2, ends, 2, "double", OP_INC),
                op_opt_arg_dat(have[2], last, 0, ends, 2, "double", OP_INC), op_arg_gbl(have, 3, "int", OP_READ));
  }
  show(position), show(last), show(weight), show(sum), show(sums), show(five);

  // Data that come later, and are gone before the end; sets that come later gather the mesh.
  op_set late = op_decl_set(CELLS, "late");
  std::vector<int> same;
  for (int c = 0; c < CELLS; c++)
    same.push_back((c * 5) % CELLS);
  op_map to_late = op_decl_map(cells, late, 1, same.data(), "late");
  op_dat found = op_decl_dat(late, 3, "int:soa", (int *)NULL, "found");
  op_par_loop(scattered, "scattered", cells, op_arg_dat(i, -1, OP_ID, 3, "int:soa", OP_READ),
              op_arg_dat(found, 0, to_late, 3, "int:soa", OP_WRITE));
  op_dat temporary = op_decl_dat_temp(late, 2, "ll:soa", (ll *)NULL, "temporary");
  op_dat by = op_decl_dat(cells, 2, "uint", some<uint>(2 * CELLS).data(), "by");
  for (int round = 0; round < 2; round++)
    op_par_loop(update, "update", cells, op_arg_dat(temporary, 0, to_late, 2, "ll:soa", OP_RW),
                op_arg_dat(by, -1, OP_ID, 2, "uint", OP_READ));
  show(found), show(temporary);
  op_free_dat_temp(temporary);

  op_par_loop(every, "every", cells, op_arg_dat(f, -1, OP_ID, 3, "float", OP_RW), op_arg_dat(i, -1, OP_ID, 3, "int:soa", OP_RW),
              op_arg_dat(u, -1, OP_ID, 3, "uint", OP_RW), op_arg_dat(l, -1, OP_ID, 3, "ll:soa", OP_RW),
              op_arg_dat(v, -1, OP_ID, 3, "ull", OP_RW), op_arg_dat(b, -1, OP_ID, 3, "bool:soa", OP_RW));
  show(f), show(i), show(u), show(l), show(v), show(b);
  double total = 0, least = 1e9;
  int first = -1;
  op_par_loop(reduce, "reduce", nodes, op_arg_dat(position, -1, OP_ID, 2, "double", OP_READ), op_arg_idx(-1, OP_ID),
              op_arg_gbl(&total, 1, "double", OP_INC), op_arg_gbl(&least, 1, "double", OP_MIN), op_arg_info(&first, 1, "int", 3));
  // CHECK: {{^}}total {{[0-9]+}} least {{[0-9-]+}} of {{[0-9]+$}}
  op_printf("total %.0f least %.0f of %d\n", total, least, first);
  op_par_loop(numbered, "numbered", cells, op_arg_idx(-1, OP_ID), op_arg_idx(2, to_corners),
              op_arg_dat(number, -1, OP_ID, 2, "int", OP_WRITE));
  int count[] = {5};
  op_par_loop(turns, "turns", nodes, op_arg_dat(last, -1, OP_ID, 2, "double", OP_RW), op_arg_gbl(count, 1, "int", OP_READ));
  op_dat doubled = op_decl_dat(nodes, 1, "double", (double *)NULL, "doubled");
  op_par_loop(one, "one", nodes, op_arg_dat(single, -1, OP_ID, 1, "double:soa", OP_READ),
              op_arg_dat(doubled, -1, OP_ID, 1, "double", OP_WRITE));
  op_par_loop(points, "points", nodes, op_arg_dat(places, -1, OP_ID, 2, "vertex:soa", OP_RW),
              op_arg_dat(speed, -1, OP_ID, 2, "double", OP_READ));
  show(number), show(last), show(doubled), show(places);

  // Loops that cannot, and others before and behind them.
  for (int round = 0; round < 2; round++) {
    op_par_loop(twice, "before", cells, op_arg_dat(unknown, -1, OP_ID, 2, "double", OP_READ),
                op_arg_dat(foreign, -1, OP_ID, 2, "double", OP_WRITE));
    op_par_loop(twice, "twice", cells, op_arg_dat(both, -1, OP_ID, 2, "double", OP_READ),
                op_arg_dat(both, -1, OP_ID, 2, "double", OP_WRITE));
    op_par_loop(assign, "assign", edges, op_arg_dat(single, 0, ends, 1, "double:soa", OP_READ),
                op_arg_dat(assigned, 1, ends, 2, "double", OP_INC));
    void (*volatile kernel)(double *) = given;
    op_par_loop(+kernel, "unknown", cells, op_arg_dat(unknown, -1, OP_ID, 2, "double", OP_RW));
    op_par_loop(rows, "rows", edges, op_arg_dat(row, -2, ends, 2, "double", OP_RW));
    // What the loops of OP2's own header do.
    op_arg arguments[] = {op_arg_dat(foreign, -1, OP_ID, 2, "double", OP_RW)};
    int upper = op_mpi_halo_exchanges(cells, 1, arguments);
    op_mpi_wait_all(1, arguments);
    for (int n = 0; n < upper; n++)
      ((double *)(arguments[0].data + n * arguments[0].size))[1] *= 2;
    op_mpi_set_dirtybit(1, arguments);
  }
  show(both), show(assigned), show(unknown), show(row), show(foreign);

  op_print_dat_to_txtfile(sum, "soa.txt"), op_print_dat_to_binfile(sums, "soa.bin");
  std::vector<double> part(3 * 11);
  op_fetch_data_idx(weight, part.data(), 100, 110);
  show("part", part.data(), part.size() * sizeof(double));
  op_dat copy = op_fetch_data_file_char(five);
  op_printf("copy %d %d %d\n", copy->set->size, copy->dim, copy->size);
  free(copy->set), free(copy);
  // What was asked for is no longer.
  OP_auto_soa = 0;
  op_par_loop(move, "again", nodes, op_arg_dat(speed, -1, OP_ID, 2, "double", OP_READ),
              op_arg_dat(position, -1, OP_ID, 2, "double", OP_RW), op_arg_dat(last, -1, OP_ID, 2, "double", OP_WRITE));
  show(position);
  if (says("dump"))
    op_fetch_data_hdf5_file(sum, argv[2]), op_fetch_data_hdf5_file(weight, argv[2]);
  if (says("overlay")) {
    op_dat part_of_sums = op_decl_dat_overlay(op_decl_set(NODES / 2, "half"), sums);
    op_par_loop(+[](float *x) { x[0] += 1; }, "overlay", part_of_sums->set, op_arg_dat(part_of_sums, -1, OP_ID, 2, "float:soa", OP_RW));
    op_par_loop(+[](float *x) { x[1] += x[0]; }, "under", nodes, op_arg_dat(sums, -1, OP_ID, 2, "float:soa", OP_RW));
    show(sums), show(part_of_sums);
  }
  if (says("times"))
    op_timing_output();
  op_exit();
}
#endif
