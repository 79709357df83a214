// op_renumber brings near in memory what is near in the mesh: the numbers in a row of a map, and those of rows that follow each
// other, on one rank and on several. Nothing that the program sees through the library changes: not the order of elements
// that print, nor which of several equal values wins, nor numbers.
//
// RUN: clang++-22 -std=c++11 -O3 -march=native -I%op2-include -fpass-plugin=%plugin %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: %t stays > %t.expected && %t > %t.found && cmp %t.expected %t.found
// RUN: for n in 1 2 4; do for way in stays renumbered; do mpirun --allow-run-as-root --oversubscribe -n $n %t spans $way | sort -n | tail -n 1; done; done | FileCheck --match-full-lines %s
// RUN: %t overlay 2>&1 | FileCheck --check-prefix=OVERLAY %s
// RUN: %t overlay before 2>&1 | FileCheck --check-prefix=BEFORE %s
// RUN: %t memory OP_NO_REALLOC 2>&1 | FileCheck --check-prefix=MEMORY %s
// RUN: not %t nothing 2>&1 | FileCheck --check-prefix=NOTHING %s
//
// Of 3000 cells, 50 in a row; on each rank the largest mean distance.
// CHECK:      {{[89]..|1...}} in a row, {{[5-9]..}} to the next
// CHECK-NEXT: {{[1-4]?.}} in a row, {{.}} to the next
// CHECK-NEXT: {{[3-9]..}} in a row, {{[2-9]..}} to the next
// CHECK-NEXT: {{[1-4]?.}} in a row, {{.}} to the next
// CHECK-NEXT: {{[2-9]..}} in a row, {{[1-9]..}} to the next
// CHECK-NEXT: {{[1-4]?.}} in a row, {{.}} to the next
// OVERLAY:      okl: warning: {{.*}}: op_decl_dat_overlay value cannot be renumbered: the mesh is in the program's order again
// OVERLAY-NEXT: overlaid 296802
// BEFORE:      okl: warning: {{.*}}: op_renumber: the mesh stays as it is: there are data on two sets (op_decl_dat_overlay)
// BEFORE-NEXT: overlaid 296802
// MEMORY:      okl: warning: {{.*}}: op_renumber: the mesh stays as it is: OP_NO_REALLOC leaves data where the program has them
// MEMORY-NEXT: same 1
// NOTHING: okl: {{.*}}: op_renumber: the map is missing
#include "op_seq.h"

#include <algorithm>
#include <vector>

static void tell(int const *n, int const *first, double const *value) {
  if (*n % 100 == 0)
    printf("edge %d cell %d value %g\n", *n, *first, *value);
}
static void both(double *a, double *b) {
  *a += 1;
  *b += 2;
}
static void best(double const *value, int const *n, double *most, int *where) {
  if (*value > *most) {
    *most = *value;
    *where = *n;
  }
}
static void last(int const *n, int *seen) {
  if (*n % 7 == 3)
    *seen = *n;
}
static void twice(double *value) { *value *= 2; }
static void sum(double const *value, double *all) { *all += *value; }

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  std::string const what = argc > 1 ? argv[1] : "", how = argc > 2 ? argv[2] : "";
  int const W = 50, CELLS = W * 60;
  std::vector<int> number(CELLS), ends;
  unsigned random = 1;
  for (int cell = 0; cell < CELLS; cell++) {
    random = random * 1664525u + 1013904223u;
    int const other = (random >> 8) % (cell + 1);
    number[cell] = number[other];
    number[other] = cell;
  }
  for (int cell = 0; cell < CELLS; cell++) {
    int const at = (long long)cell * 1009 % CELLS;
    if (at % W + 1 < W)
      ends.push_back(number[at]), ends.push_back(number[at + 1]);
    if (at + W < CELLS)
      ends.push_back(number[at]), ends.push_back(number[at + W]);
  }
  std::vector<double> values(CELLS);
  for (int cell = 0; cell < CELLS; cell++)
    values[cell] = cell % 100;
  op_set cells = op_decl_set(CELLS, "cells"), edges = op_decl_set(ends.size() / 2, "edges");
  op_map map = op_decl_map(edges, cells, 2, ends.data(), "map");
  op_dat value = op_decl_dat(cells, 1, "double", values.data(), "value");
  if (what == "nothing")
    op_renumber(NULL);
  op_set some = op_decl_set(CELLS - 1, "some");
  if (how == "before")
    op_decl_dat_overlay(some, value);
  op_partition("", "", cells, map, NULL);
  if (what != "stays" && how != "stays")
    op_renumber(map);
  if (what == "memory")
    printf("same %d\n", *(char **)((char *)value + offsetof(op_dat_core, data)) == (char *)values.data());
  if (what == "overlay") {
    op_dat over = op_decl_dat_overlay(some, value);
    double all = 0;
    op_par_loop(twice, "twice", cells, op_arg_dat(value, -1, OP_ID, 1, "double", OP_RW));
    op_par_loop(sum, "sum", some, op_arg_dat(over, -1, OP_ID, 1, "double", OP_READ), op_arg_gbl(&all, 1, "double", OP_INC));
    printf("overlaid %.0f\n", all);
  }
  if (what == "spans") {
    op_par_loop(both, "both", edges, op_arg_dat(value, 0, map, 1, "double", OP_INC),
                op_arg_dat(value, 1, map, 1, "double", OP_INC));
    long within = 0, between = 0, before = 0;
    // This rank's rows: the compiler does not see that the program looks at a map itself.
    int const *rows_of_map = *(int **)((char *)map + offsetof(op_map_core, map));
    int const rows = edges->core_size;
    for (int edge = 0; edge < rows; edge++) {
      int const *row = rows_of_map + 2 * edge, low = std::min(row[0], row[1]);
      within += abs(row[0] - row[1]);
      between += edge ? labs(low - before) : 0;
      before = low;
    }
    printf("%ld in a row, %ld to the next\n", within / rows, between / rows);
  }
  if (what == "" || what == "stays") {
    for (int round = 0; round < 2; round++) {
      op_par_loop(tell, "tell", edges, op_arg_idx(-1, OP_ID), op_arg_idx(0, map),
                  op_arg_dat(value, 0, map, 1, "double", OP_READ));
      op_par_loop(both, "both", edges, op_arg_dat(value, 0, map, 1, "double", OP_INC),
                  op_arg_dat(value, 1, map, 1, "double", OP_INC));
      double most = 0;
      int where = -1, seen = -1;
      op_par_loop(best, "best", cells, op_arg_dat(value, -1, OP_ID, 1, "double", OP_READ), op_arg_idx(-1, OP_ID),
                  op_arg_gbl(&most, 1, "double", OP_MAX), op_arg_info(&where, 1, "int", 2));
      op_par_loop(last, "last", cells, op_arg_idx(-1, OP_ID), op_arg_gbl(&seen, 1, "int", OP_RW));
      printf("best %g at %d, last %d\n", most, where, seen);
    }
    op_fetch_data(value, values.data());
    for (int cell = 0; cell < CELLS; cell += 37)
      printf("%d %g\n", cell, values[cell]);
  }
  op_exit();
  return 0;
}
