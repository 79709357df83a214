// Exceptions that leave a loop while messages are on their way. Where one leaves it on every rank, what comes still
// arrives where there is room for it, and the ranks agree about what they have; where one leaves it on some ranks only,
// the job ends. A kernel that the compiler knows not to throw costs no message.
//
// RUN: clang++-22 -std=c++11 -O2 -g -I%op2-include -fpass-plugin=%plugin %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: clang++-22 -std=c++11 -O2 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.plain
// RUN: for n in 1 2 4; do mpirun --allow-run-as-root --oversubscribe -n $n %t first | FileCheck --check-prefixes=FIRST,GOES-ON %s || exit 1; done
// RUN: mpirun --allow-run-as-root --oversubscribe -n 3 %t.plain first | FileCheck --check-prefixes=FIRST,GOES-ON %s
// RUN: mpirun --allow-run-as-root --oversubscribe -n 2 %t border | FileCheck --check-prefixes=BORDER,GOES-ON %s
// RUN: for program in %t %t.plain; do (mpirun --allow-run-as-root --oversubscribe -n 3 $program one 2>&1; true) | grep ^okl: | FileCheck --check-prefix=ONE %s || exit 1; done
// RUN: (mpirun --allow-run-as-root --oversubscribe -n 3 %t turn 2>&1; true) | grep ^okl: | FileCheck --check-prefix=TURN %s
// RUN: mpirun --allow-run-as-root --oversubscribe -n 2 %t whole | FileCheck --check-prefix=WHOLE %s
//
// FIRST:  caught
// BORDER: caught
// GOES-ON-NEXT: memory is as it was
// GOES-ON-NEXT: sums are right
// ONE: okl: {{.*}}op_par_loop sum: the kernel throws an exception on rank 1, but not on rank 0: the ranks would go on differently
// TURN: okl: rank 1: {{.*}}op_par_loop last: the kernel throws an exception on this rank alone: the ranks would go on differently
// WHOLE: caught 5, then 12 of 12
#include "op_seq.h"

#include <algorithm>
#include <vector>

enum { CELLS = 1000, WIDTH = 16 };

static void grow(double *x) {
  for (int k = 0; k < WIDTH; k++)
    x[k] += 1;
}
static void sum(int const *bad, double const *a, double const *b, double *edge) {
  if (*bad)
    throw 1;
  *edge = 0;
  for (int k = 0; k < WIDTH; k++)
    *edge += a[k] + b[k];
}
static void last(int const *bad, int *seen) {
  if (*bad)
    throw 2;
  *seen = *seen * 3 + 1;
}
static void count(int const *bad, double *cell, int *seen) {
  if (++*seen == 5 && *bad)
    throw *seen;
  *cell += 1;
}

// As large as the messages, which have been freed if nobody waits for them.
static std::vector<std::vector<char> > blocks() {
  std::vector<std::vector<char> > all;
  for (size_t bytes = 1000; bytes <= 140000; bytes += 500)
    all.push_back(std::vector<char>(bytes, 7));
  return all;
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  char const which = argv[1][0];
  int rank;
  op_rank(&rank);
  // Each cell has an edge to the next one and, so that messages are long, one to the cell across.
  std::vector<int> ends;
  for (int n = 0; n < CELLS; n++) {
    ends.push_back(n), ends.push_back((n + 1) % CELLS);
    if (which != 'b')
      ends.push_back(n), ends.push_back((n + CELLS / 2) % CELLS);
  }
  int const count_edges = ends.size() / 2;
  std::vector<double> cell(CELLS * WIDTH, 1);
  std::vector<int> bad(count_edges), bad_cell(CELLS);
  for (int e = 0; e < count_edges; e++) {
    // Everywhere; at an inner edge of rank 0 and one at rank 1's border; at one edge.
    bad[e] = which == 'f' || (which == 'b' && (e == CELLS / 8 || e == CELLS / 2)) || (which == 'o' && e == count_edges / 2);
  }
  op_set cells = op_decl_set(CELLS, "cells"), edges = op_decl_set(count_edges, "edges");
  op_map map = op_decl_map(edges, cells, 2, ends.data(), "map");
  if (which == 't' || which == 'w')
    bad_cell[which == 't' ? CELLS / 2 : 0] = 1;
  op_dat x = op_decl_dat(cells, WIDTH, "double", cell.data(), "x"), flag = op_decl_dat(edges, 1, "int", bad.data(), "flag");
  op_dat flag_cell = op_decl_dat(cells, 1, "int", bad_cell.data(), "flag_cell");
  std::vector<double> zeros(count_edges);
  op_dat y = op_decl_dat(edges, 1, "double", zeros.data(), "y");
  int seen = 0;
  if (which == 't') {
    try {
      op_par_loop(last, "last", cells, op_arg_dat(flag_cell, -1, OP_ID, 1, "int", OP_READ), op_arg_gbl(&seen, 1, "int", OP_RW));
    } catch (int) {
      op_print("caught");
    }
    op_exit();
    return 0;
  }
  if (which == 'w') {
    // A loop for which every rank has the whole mesh.
    int few[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, ones[12];
    std::fill(ones, ones + 12, 1);
    op_set some = op_decl_set(12, "some");
    op_map to = op_decl_map(some, some, 1, few, "to");
    double nothing[12] = {0};
    op_dat d = op_decl_dat(some, 1, "double", nothing, "d"), f = op_decl_dat(some, 1, "int", ones, "f");
    try {
      op_par_loop(count, "count", some, op_arg_dat(f, -1, OP_ID, 1, "int", OP_READ), op_arg_dat(d, 0, to, 1, "double", OP_INC),
                  op_arg_gbl(&seen, 1, "int", OP_RW));
    } catch (int number) {
      op_printf("caught %d", number);
    }
    seen = 10;
    op_par_loop(count, "count", some, op_arg_dat(f, -1, OP_ID, 1, "int", OP_READ), op_arg_dat(d, 0, to, 1, "double", OP_INC),
                op_arg_gbl(&seen, 1, "int", OP_RW));
    op_fetch_data(d, nothing);
    int right = 0;
    for (int n = 0; n < 12; n++)
      right += nothing[n] == (n < 4 ? 2 : 1);
    op_printf(", then %d of 12\n", right);
    op_exit();
    return 0;
  }
  bool is_same = true, is_right = true;
  for (int round = 0; round < 3; round++) {
    op_par_loop(grow, "grow", cells, op_arg_dat(x, -1, OP_ID, WIDTH, "double", OP_RW));
    try {
      op_par_loop(sum, "sum", edges, op_arg_dat(flag, -1, OP_ID, 1, "int", OP_READ),
                  op_arg_dat(x, 0, map, WIDTH, "double", OP_READ), op_arg_dat(x, 1, map, WIDTH, "double", OP_READ),
                  op_arg_dat(y, -1, OP_ID, 1, "double", OP_RW));
      op_print("no exception");
    } catch (int) {
      if (round == 0)
        op_print("caught");
    }
    std::vector<std::vector<char> > all = blocks();
    op_barrier();
    op_fetch_data(x, cell.data());
    for (std::vector<char> const &one : all)
      is_same = is_same && std::count(one.begin(), one.end(), 7) == (long)one.size();
  }
  std::fill(bad.begin(), bad.end(), 0);
  op_dat fine = op_decl_dat(edges, 1, "int", bad.data(), "fine");
  for (int round = 0; round < 2; round++) {
    op_par_loop(sum, "sum", edges, op_arg_dat(fine, -1, OP_ID, 1, "int", OP_READ),
                op_arg_dat(x, 0, map, WIDTH, "double", OP_READ), op_arg_dat(x, 1, map, WIDTH, "double", OP_READ),
                op_arg_dat(y, -1, OP_ID, 1, "double", OP_RW));
    op_fetch_data(y, zeros.data());
    is_right = is_right && std::count(zeros.begin(), zeros.end(), 2 * WIDTH * 4. + round * 2 * WIDTH) == count_edges;
    op_par_loop(grow, "grow", cells, op_arg_dat(x, -1, OP_ID, WIDTH, "double", OP_RW));
  }
  op_print(is_same ? "memory is as it was" : "memory has changed");
  op_print(is_right ? "sums are right" : "sums are wrong");
  op_exit();
  return 0;
}
