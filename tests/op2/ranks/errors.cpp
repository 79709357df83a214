// A mistake ends the job with one message, whether all ranks make it or one does; what cannot be done as asked is said
// once; a choice that there is not is refused.
//
// REQUIRES: libptscotch libscotch
// RUN: clang++-22 -std=c++11 -O2 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: for n in $(seq 1 14); do (mpirun --allow-run-as-root --oversubscribe -n 3 %t $n 2>&1; echo "$n ends with $?") | grep -e ^okl: -e '^[0-9]* ends'; done | FileCheck --check-prefixes=CHECK,HAS --match-full-lines %s
// RUN: rm -rf %t.none && mkdir %t.none && cd %t.none && touch libptscotch-7.0.so libptscotch.so.7.0 libptscotch.so
// RUN: export LD_LIBRARY_PATH=%t.none && for n in 4 5 15; do (mpirun --allow-run-as-root --oversubscribe -n 3 %t $n 2>&1; echo "$n ends with $?") | grep -e ^okl: -e '^[0-9]* ends'; done | FileCheck --check-prefixes=ONE-RANK --match-full-lines %s
//
// PT-Scotch that belongs to another MPI, that does not divide the graph, or is something else, on one rank.
// RUN: cd %t.none && real=$(readlink -f /usr/lib/*/libptscotch-7.0.so) && cc -shared -Wl,-soname,$real -x c /dev/null -o stub.so && echo 'int PMPI_Init() { return 1; }' > own.c && cc -shared -fPIC own.c -Wl,--no-as-needed stub.so -o libptscotch-7.0.so
// RUN: (mpirun --allow-run-as-root --oversubscribe -n 2 %t 4 : -n 1 -x LD_LIBRARY_PATH=%t.none %t 4 2>&1; echo "ends with $?") | grep -e ^okl: -e '^ends' | FileCheck --check-prefix=OTHER --match-full-lines %s
// RUN: cd %t.none && echo 'int SCOTCH_dgraphPart() { return 1; }' > own.c && cc -shared -fPIC own.c -Wl,--no-as-needed stub.so -o libptscotch-7.0.so
// RUN: (mpirun --allow-run-as-root --oversubscribe -n 3 -x LD_LIBRARY_PATH=%t.none %t 16 2>&1; echo "ends with $?") | grep -e ^okl: -e '^ends' | FileCheck --check-prefix=FAILS --match-full-lines %s
// RUN: cd %t.none && cc -shared -x c /dev/null -Wl,--no-as-needed -lmpi -o libptscotch-7.0.so
// RUN: (mpirun --allow-run-as-root --oversubscribe -n 3 -x LD_LIBRARY_PATH=%t.none %t 4 2>&1; echo "ends with $?") | grep -e ^okl: -e '^ends' | FileCheck --check-prefix=NO-SCOTCH --match-full-lines %s
// OTHER:     okl: warning: op_partition: PTSCOTCH: PT-Scotch: libptscotch-7.0.so: it is made for another MPI (on rank 2): Scotch on rank 0 is used instead
// OTHER-NEXT: ends with 0
// FAILS:     okl: warning: op_partition: PTSCOTCH: PT-Scotch: it does not divide the graph: Scotch on rank 0 is used instead
// FAILS-NEXT: ends with 0
// NO-SCOTCH: okl: warning: op_partition: PTSCOTCH: PT-Scotch: libptscotch-7.0.so: it has no SCOTCH_numSizeof: Scotch on rank 0 is used instead
// NO-SCOTCH-NEXT: ends with 0
// RUN: cd %t.none && rm * && touch libptscotch-7.0.so libptscotch.so.7.0 libptscotch.so libscotch-7.0.so libscotch.so.7.0 libscotch.so
// RUN: export LD_LIBRARY_PATH=%t.none && for n in 4 5 15; do (mpirun --allow-run-as-root --oversubscribe -n 3 %t $n 2>&1; echo "$n ends with $?") | grep -e ^okl: -e '^[0-9]* ends'; done | FileCheck --check-prefix=LACKS --match-full-lines %s
// RUN: (OKL_BACKEND=mpi not %t 0; OKL_BACKEND=gpu not %t 0; (OKL_BACKEND=MPI mpirun --allow-run-as-root --oversubscribe -n 2 %t 0 2>&1; echo "ends with $?") | grep -e ^okl: -e '^ends'; OKL_BACKEND=cpu mpirun --allow-run-as-root --oversubscribe -n 2 %t 3; OKL_BACKEND=seq %t 0) 2>&1 | FileCheck --check-prefix=BACKEND %s
//
// BACKEND:      okl: OKL_BACKEND=mpi: there is no MPI job; start the program with mpirun
// BACKEND-NEXT: okl: OKL_BACKEND=gpu: valid values for an OP2 program are seq, cpu, mpi, cuda, cuda-emulated, hip and spirv
// BACKEND-NEXT: okl: OKL_BACKEND=MPI: valid values for an OP2 program are seq, cpu, mpi, cuda, cuda-emulated, hip and spirv
// BACKEND-NEXT: ends with 70
// BACKEND-NEXT: done
// BACKEND-NEXT: done
// BACKEND-NEXT: done
#include "op_seq.h"

static void one(double *) {}
static void add(double const *x, double *y) { *y += *x; }

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  int const which = atoi(argv[1]);
  int rank;
  op_rank(&rank);
  op_set cells = op_decl_set(12, "cells"), nodes = op_decl_set(12, "nodes");
  int numbers[12], far[12], owners[12], outside[12];
  for (int n = 0; n < 12; n++)
    numbers[n] = n, far[n] = 11 - n, owners[n] = n % 3, outside[n] = n == 7 ? 3 : 0;
  double values[12] = {0};
  if (which == 1)
    op_decl_set(-1, "set");
  // CHECK:      okl: op_decl_set set: a set of -1 elements
  // CHECK-NEXT: 1 ends with 70
  if (which == 2 && rank == 2)
    op_decl_set(-1, "set");
  // CHECK-NEXT: okl: rank 2: op_decl_set set: a set of -1 elements
  // CHECK-NEXT: 2 ends with 70
  op_map map = op_decl_map(cells, nodes, 1, which == 3 && rank == 1 ? far : numbers, "map");
  op_dat x = op_decl_dat(cells, 1, "double", values, "x"), y = op_decl_dat(nodes, 1, "double", values, "y");
  op_dat whole = op_decl_dat(cells, 1, "int", owners, "whole"), bad = op_decl_dat(cells, 1, "int", outside, "bad");
  // CHECK-NEXT: okl: rank 1 has declared another mesh than rank 0: every rank declares all of it, unless the program includes okl's op_lib_mpi.h
  // CHECK-NEXT: 3 ends with 70
  // HAS-NEXT:   4 ends with 0
  if (which == 4)
    op_partition("PTSCOTCH", "KWAY", cells, map, x);
  // ONE-RANK:   okl: warning: op_partition: PTSCOTCH: PT-Scotch: the library of Debian's package libptscotch-7.0 cannot be loaded: {{.*libptscotch-7.0.so.*}}: Scotch on rank 0 is used instead
  // ONE-RANK-NEXT: 4 ends with 0
  // ONE-RANK-NEXT: okl: warning: op_partition: PARMETIS: PT-Scotch: {{.*}}: Scotch on rank 0 is used instead
  // ONE-RANK-NEXT: 5 ends with 0
  // LACKS:      okl: warning: op_partition: PTSCOTCH: PT-Scotch: the library of Debian's package libptscotch-7.0 cannot be loaded: {{.*libptscotch-7.0.so.*}}; Scotch: the library of Debian's package libscotch-7.0 cannot be loaded: {{.*libscotch-7.0.so.*}}: recursive coordinate bisection is used instead
  // LACKS-NEXT: 4 ends with 0
  if (which == 5)
    op_partition("PARMETIS", "KWAY", cells, map, NULL);
  // HAS-NEXT:   okl: warning: op_partition: there is no PARMETIS: PT-Scotch is used instead
  // HAS-NEXT:   5 ends with 0
  // LACKS-NEXT: okl: warning: op_partition: PARMETIS: PT-Scotch: the library of Debian's package libptscotch-7.0 cannot be loaded: {{.*libptscotch-7.0.so.*}}; Scotch: the library of Debian's package libscotch-7.0 cannot be loaded: {{.*libscotch-7.0.so.*}}: blocks are used instead
  // LACKS-NEXT: 5 ends with 0
  if (which == 15)
    op_partition("SCOTCH", "", cells, map, NULL);
  // LACKS-NEXT: okl: warning: op_partition: SCOTCH: Scotch: the library of Debian's package libscotch-7.0 cannot be loaded: {{.*libscotch-7.0.so.*}}: blocks are used instead
  // LACKS-NEXT: 15 ends with 0
  if (which == 16) {
    int pairs[24];
    for (int n = 0; n < 12; n++)
      pairs[2 * n] = n, pairs[2 * n + 1] = (n + 1) % 12;
    op_map ring = op_decl_map(cells, nodes, 2, pairs, "ring");
    op_partition("PTSCOTCH", "KWAY", cells, ring, x);
  }
  if (which == 6)
    op_partition("METIS", "", cells, map, NULL);
  // CHECK-NEXT: okl: op_partition: "METIS" is not known; there are "", "BLOCK", "GEOM", "PTSCOTCH", "SCOTCH", "EXTERNAL" and "RANDOM"
  // CHECK-NEXT: 6 ends with 70
  if (which == 7)
    op_partition("GEOM", "", cells, map, NULL);
  // CHECK-NEXT: okl: op_partition: the coordinates are missing
  // CHECK-NEXT: 7 ends with 70
  if (which == 8)
    op_partition("GEOM", "", cells, map, whole);
  // CHECK-NEXT: okl: op_partition: whole is of type "int", but coordinates are of type "double" or "float"
  // CHECK-NEXT: 8 ends with 70
  if (which == 9)
    op_partition("EXTERNAL", "", cells, map, NULL);
  // CHECK-NEXT: okl: op_partition EXTERNAL: the owners are missing
  // CHECK-NEXT: 9 ends with 70
  if (which == 10)
    op_partition("EXTERNAL", "", cells, map, x);
  // CHECK-NEXT: okl: op_partition EXTERNAL: x has 1 components of type "double"; an owner is one "int"
  // CHECK-NEXT: 10 ends with 70
  if (which == 11)
    op_partition("EXTERNAL", "", cells, map, bad);
  // CHECK-NEXT: okl: op_partition EXTERNAL: element 7 of cells belongs to rank 3; there are 0 to 2
  // CHECK-NEXT: 11 ends with 70
  op_par_loop(add, "add", cells, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(y, 0, map, 1, "double", OP_INC));
  if (which == 12)
    op_decl_dat_overlay(nodes, x);
  // CHECK-NEXT: okl: warning: op_decl_dat_overlay x cannot be distributed: every rank computes the whole mesh
  // CHECK-NEXT: 12 ends with 0
  if (which == 13)
    op_fetch_data_idx(x, values, 5, 12);
  // CHECK-NEXT: okl: op_fetch_data_idx x: elements 5 to 12; there are 0 to 11
  // CHECK-NEXT: 13 ends with 70
  if (which == 14)
    op_par_loop(one, "one", cells, op_arg_dat(y, -1, OP_ID, 1, "double", OP_RW));
  // CHECK-NEXT: okl: op_par_loop one: arg0: y is on nodes, but without a map the argument is on cells
  // CHECK-NEXT: 14 ends with 70
  op_par_loop(add, "add", cells, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(y, 0, map, 1, "double", OP_INC));
  op_printf("done\n");
  op_exit();
  return 0;
}
