// The functions of OP2 that programs which divide their mesh themselves call, on any number of ranks: each does what OP2's
// does, or nothing where there is nothing to do.
//
// RUN: OMPI_CXX=clang++-22 mpicxx -std=c++11 -O2 -Wall -Wextra -Werror -Wno-cast-function-type-mismatch -I%op2-include -fpass-plugin=%plugin %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: mpirun --allow-run-as-root --oversubscribe -n 1 %t | FileCheck --match-full-lines --check-prefixes=CHECK,OF-1 %s
// RUN: mpirun --allow-run-as-root --oversubscribe -n 2 %t | FileCheck --match-full-lines --check-prefixes=CHECK,OF-2 %s
// RUN: mpirun --allow-run-as-root --oversubscribe -n 3 %t | FileCheck --match-full-lines --check-prefixes=CHECK,OF-3 %s
// RUN: clang++-22 -std=c++11 -O2 -DWHOLE -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: for n in 1 3; do mpirun --allow-run-as-root --oversubscribe -n $n %t | FileCheck --match-full-lines --check-prefix=WHOLE %s || exit 1; done
//
// What is printed of data on each rank, and of those that each rank has as a whole.
// WHOLE:      0.500000
// WHOLE-NEXT: -2.000000
// WHOLE-NEXT: 1.250000
// WHOLE-NEXT: 3
// WHOLE-NEXT: 4
// WHOLE-NEXT: 5
// WHOLE-NEXT: same sums: 3 of 3
#ifdef WHOLE
#include "op_seq.h"

static void add(double *x, double *sum) { *sum += *x; }

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  op_set set = op_decl_set(3, "set");
  double x[] = {0.5, -2, 1.25}, first, second;
  int n[] = {3, 4, 5}, good = 0;
  op_dat dat = op_decl_dat(set, 1, "double", x, "x"), number = op_decl_dat(set, 1, "int", n, "n");
  op_dump_dat(NULL);
  char const *ways[] = {"RANDOM", "INERTIAL", "EXTERNAL"};
  int zeros[3] = {0, 0, 0};
  op_dat owners = op_decl_dat(set, 1, "int", zeros, "owners");
  for (int k = 0; k < 3; k++) {
    op_partition(ways[k], "", set, NULL, k == 2 ? owners : dat);
    double sum = 0;
    op_par_loop(add, "add", set, op_arg_dat(dat, -1, OP_ID, 1, "double", OP_RW), op_arg_gbl(&sum, 1, "double", OP_INC));
    op_compute_moment(sum, &first, &second);
    good += first == -0.25 && second == 0.0625;
  }
  op_dump_dat(dat);
  op_dump_dat(number);
  op_printf("same sums: %d of 3\n", good);
  op_exit();
}
#else
#include "op_lib_cpp.h"
#include "op_lib_mpi.h"
#include "op_util.h"

#include "op_seq.h"

#include <vector>

static void cell_of(int const *cell, int *edge) { *edge = *cell; }
static void twice(int *x) { *x *= 2; }

static int rank, ranks;

static int total(int mine) {
  int all;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  enum { CELLS = 100 };
  int const size = compute_local_size(CELLS, ranks, rank);
  // OF-1: rounded 0 32 64, parts 100 0 0
  // OF-2: rounded 0 32 64, parts 50 50 0
  // OF-3: rounded 0 32 64, parts 34 33 33
  op_printf("rounded %zu %zu %zu, parts %d %d %d\n", round32(0), round32(32), round32(33), compute_local_size(CELLS, ranks, 0),
            ranks > 1 ? compute_local_size(CELLS, ranks, 1) : 0, ranks > 2 ? compute_local_size(CELLS, ranks, 2) : 0);
  int before = 0;
  for (int other = 0; other < rank; other++)
    before += compute_local_size(CELLS, ranks, other);
  std::vector<int> ends(size), numbers(size), owners(size), place(3 * size);
  std::vector<double> points(3 * size);
  for (int n = 0; n < size; n++) {
    numbers[n] = before + n, ends[n] = CELLS - 1 - before - n, owners[n] = n % ranks;
    points[3 * n] = before + n;
  }
  op_set cells = op_decl_set(size, "cells"), edges = op_decl_set(size, "edges"), again = op_decl_set(size, "edges");
  op_map map = op_decl_map(edges, cells, 1, ends.data(), "map");
  op_dat number = op_decl_dat(cells, 1, "int", numbers.data(), "number"), owner = op_decl_dat(cells, 1, "int", owners.data(), "owner"),
         x = op_decl_dat(cells, 3, "double", points.data(), "x"), found = op_decl_dat(edges, 1, "int", (int *)NULL, "found");
  // Two sets may have one name.
  // CHECK: the same set 1 0, not partitioned 0
  op_printf("the same set %d %d, not partitioned %d\n", compare_sets(edges, edges), compare_sets(edges, again), OP_is_partitioned);
  op_halo_create();
  // CHECK: everything is here 1
  op_printf("everything is here %d\n", total(edges->size) == CELLS);
  op_halo_destroy();
  for (int round = 0; round < 4; round++) {
    if (round == 1)
      op_partition_external(cells, owner);
    if (round == 2)
      op_partition_random(cells);
    if (round == 3)
      op_partition_inertial(x);
    op_par_loop(cell_of, "cell_of", edges, op_arg_dat(number, 0, map, 1, "int", OP_READ),
                op_arg_dat(found, -1, OP_ID, 1, "int", OP_WRITE));
    op_rt_exit();
    // What each rank has declared, in its order.
    op_dat copy = op_mpi_get_data(found);
    op_mpi_put_data(found);
    int right = 0;
    for (int n = 0; n < copy->set->size; n++)
      right += ((int *)copy->data)[n] == ends[n];
    free(copy->data), free(copy->set), free(copy);
    // CHECK:      round 0: 100 right, all 100 are owned, partitioned 0
    // CHECK-NEXT: round 1: 100 right, all 100 are owned, partitioned 1
    // CHECK-NEXT: round 2: 100 right, all 100 are owned, partitioned 1
    // CHECK-NEXT: round 3: 100 right, all 100 are owned, partitioned 1
    int const all = total(right), owned = total(cells->size);
    op_printf("round %d: %d right, all %d are owned, partitioned %d\n", round, all, owned, op_is_partitioned());
    op_mpi_barrier();
  }
  // Some ranks have other numbers of values than others, and zeros.
  double first, second, times[] = {double(rank), 0, 3};
  op_compute_moment(rank, &first, &second);
  // OF-1: moments 0 0
  // OF-2: moments 0.5 0.5
  // OF-3: moments 1 1.66667
  op_printf("moments %g %g\n", first, second);
  op_compute_moment_across_times(times, rank == 1 ? 2 : 3, true, &first, &second);
  // OF-1: of 3 9
  // OF-2: of 2 5
  // OF-3: of 2.25 5.75
  op_printf("of %g %g\n", first, second);
  op_arg arg = op_arg_dat(number, -1, OP_ID, 1, "int", OP_RW);
  op_mpi_test_all(1, &arg);
  op_mpi_perf_comms(NULL, 1, &arg);
  // Temporary data of one name, one after the other, and of different types.
  op_dat temporary = op_decl_dat_temp(cells, 1, "int", (int *)NULL, "temporary");
  op_decl_dat_temp(cells, 1, "double", (double *)NULL, "temporary");
  op_decl_dat_temp(edges, 1, "int", (int *)NULL, "temporary");
  op_par_loop(twice, "twice", cells, op_arg_dat(temporary, -1, OP_ID, 1, "int", OP_RW));
  // CHECK: freed 1, again 1
  op_printf("freed %d", op_free_dat_temp(temporary));
  temporary = op_decl_dat_temp(cells, 1, "int", (int *)NULL, "temporary");
  op_printf(", again %d\n", op_free_dat_temp(temporary));
  int sorted[] = {5, 3, 5, 1, 3, 9};
  op_sort(sorted, 6);
  int const left = removeDups(sorted, 6);
  void *memory = xrealloc(xcalloc(2, 8), 4);
  // CHECK: 4 left, 2 0, -1 3 at, least at 0, memory 1 0, files 1 0
  op_printf("%d left, %d %d, %d %d at, least at %d, memory %d %d, files %d %d\n", left, linear_search(sorted, 5, 0, 3),
            linear_search(sorted, 1, 0, 3), binary_search(sorted, 4, 0, 3), binary_search(sorted, 9, 0, 3), min(sorted, left),
            memory != NULL, xmalloc(0) != NULL || xrealloc(memory, 0) != NULL, file_exist(argv[0]), file_exist("no such file"));
  op_partition_destroy();
  op_exit();
}
#endif
