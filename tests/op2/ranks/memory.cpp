// After the first loop a rank keeps nothing that is as large as the whole mesh: what it has allocated since the beginning is about
// its part of what the mesh takes on one rank, also when the mesh has been made whole and distributed again.
//
// REQUIRES: libptscotch
// RUN: clang++-22 -std=c++11 -O2 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: for n in 2 4; do for how in BLOCK PTSCOTCH; do mpirun --allow-run-as-root --oversubscribe -n $n %t $how; done; done | FileCheck --match-full-lines %s
// CHECK-COUNT-4: small 1 1
#include "op_seq.h"

#include <malloc.h>
#include <vector>

static void add(double const *x, double *a, double *b) {
  *a += *x;
  *b -= *x;
}
static size_t allocated() {
  struct mallinfo2 const now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  int const ranks = atoi(getenv("OMPI_COMM_WORLD_SIZE")), SIZE = 200000;
  size_t const before = allocated();
  size_t after[2];
  op_set nodes, edges;
  op_map map;
  op_dat x, y;
  {
    std::vector<int> ends(4 * SIZE);
    for (int e = 0; e < 2 * SIZE; e++)
      ends[2 * e] = e / 2, ends[2 * e + 1] = (e / 2 + (e % 2 ? 1 : 400)) % SIZE;
    nodes = op_decl_set(SIZE, "nodes"), edges = op_decl_set(2 * SIZE, "edges");
    map = op_decl_map(edges, nodes, 2, ends.data(), "map");
    x = op_decl_dat(edges, 1, "double", (double *)NULL, "x"), y = op_decl_dat(nodes, 1, "double", (double *)NULL, "y");
  }
  // Rows and data of the edges, data of the nodes.
  size_t const whole = SIZE * (2 * (2 * sizeof(int) + sizeof(double)) + sizeof(double));
  op_partition(argv[1], "KWAY", edges, map, NULL);
  for (int round = 0; round < 2; round++) {
    op_par_loop(add, "add", edges, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ),
                op_arg_dat(y, 0, map, 1, "double", OP_INC), op_arg_dat(y, 1, map, 1, "double", OP_INC));
    std::vector<double> values(SIZE);
    op_fetch_data(y, values.data());
    values = std::vector<double>();
    after[round] = allocated() - before;
    op_decl_set(1, "another");
  }
  // The local elements' numbers besides, and the borders.
  auto is_small = [&](size_t bytes) { return bytes < (whole + 3 * SIZE * sizeof(int)) / ranks * 1.1 + 200000; };
  op_printf("small %d %d\n", is_small(after[0]), is_small(after[1]));
  if (!is_small(after[0]) || !is_small(after[1]))
    op_printf("%zu %zu of %zu\n", after[0], after[1], whole);
  op_exit();
  return 0;
}
