// Meshes of all small shapes are divided by PT-Scotch: fewer elements than ranks, elements that go along with nobody, rows
// that lead to one element only, nothing at all. No rank hangs, and the loop's result is what it is on one.
//
// RUN: clang++-22 -std=c++11 -O2 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: %t > %t.expected && FileCheck %s < %t.expected
// RUN: for n in 2 3 4; do mpirun --allow-run-as-root --oversubscribe -n $n %t > %t.found 2>&1 && cmp %t.expected %t.found || exit 1; done
//
// CHECK: shape 0: [[#]] elements, [[#]] rows of [[#]]: sum
// CHECK: shape 39:
#include "op_seq.h"

#include <vector>

static unsigned below(unsigned end) {
  static unsigned state = 5;
  state = state * 1664525 + 1013904223;
  return (state >> 16) % end;
}
static void fill(double *value) { *value = 1; }
static void add(double const *value, double *sum) { *sum += *value; }

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  for (int shape = 0; shape < 40; shape++) {
    int const size = below(shape % 2 ? 12 : 40), rows = size ? below(30) : 0, arity = 1 + below(3);
    std::vector<int> to(rows * arity + 1);
    for (int &one : to)
      one = size ? below(size) : 0;
    op_set elements = op_decl_set(size, "elements"), lines = op_decl_set(rows, "lines");
    op_map map = op_decl_map(lines, elements, arity, to.data(), "map");
    op_dat value = op_decl_dat(elements, 1, "double", (double *)NULL, "value");
    op_partition("PTSCOTCH", "KWAY", lines, map, NULL);
    double sum = 0;
    op_par_loop(fill, "fill", elements, op_arg_dat(value, -1, OP_ID, 1, "double", OP_WRITE));
    op_par_loop(add, "add", lines, op_arg_dat(value, arity - 1, map, 1, "double", OP_READ),
                op_arg_gbl(&sum, 1, "double", OP_INC));
    op_printf("shape %d: %d elements, %d rows of %d: sum %g\n", shape, size, rows, arity, sum);
  }
  op_exit();
  return 0;
}
