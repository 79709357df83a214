// Mistakes of programs in which each rank declares a part of the mesh.
//
// RUN: OMPI_CXX=clang++-22 mpicxx -std=c++11 -O1 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: for n in 2 9 10 1 3 4 5 6 7 8; do (mpirun --allow-run-as-root --oversubscribe -n 3 %t $n 2>&1; true) | grep -o 'okl: .*' | sort -u | sed -n 1p | grep . || echo "case $n says nothing"; done | FileCheck --match-full-lines %s
// RUN: (OKL_BACKEND=cpu mpirun --allow-run-as-root --oversubscribe -n 2 %t 0 2>&1; true) | grep ^okl: | FileCheck --check-prefix=BACKEND %s
// RUN: OKL_BACKEND=cpu mpirun --allow-run-as-root --oversubscribe -n 1 %t 0 | FileCheck --check-prefix=DONE %s
// RUN: %t 4 | FileCheck --check-prefix=DONE %s
//
// BACKEND: okl: OKL_BACKEND=cpu: each rank declares a part of the mesh, which several ranks run with mpi alone
// DONE: done
#define OMPI_SKIP_MPICXX
#include <mpi.h>

#include "op_lib_mpi.h"
#include "op_seq.h"

int main(int argc, char **argv) {
  int const which = atoi(argv[1]);
  if (which == 1)
    op_mpi_init(argc, argv, 0, 0, 0);
  if (which == 2) {
    MPI_Init(&argc, &argv);
    op_mpi_init_soa(argc, argv, 0, MPI_Comm_c2f(MPI_COMM_WORLD), MPI_Comm_c2f(MPI_COMM_NULL), 1);
  } else if (which >= 9) {
    MPI_Init(&argc, &argv);
    int world_rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank == 2 && which == 9 ? MPI_UNDEFINED : 1, 0, &part);
    op_mpi_init(argc, argv, 0, MPI_Comm_c2f(which == 10 ? MPI_COMM_NULL : MPI_COMM_WORLD), MPI_Comm_c2f(part));
  } else
    op_init(argc, argv, 0);
  // CHECK:      okl: op_mpi_init: the local communicator is MPI_COMM_NULL: ranks without a part of the mesh do not call it
  // CHECK-NEXT: okl: rank 2: op_mpi_init: the local communicator is MPI_COMM_NULL: ranks without a part of the mesh do not call it
  // CHECK-NEXT: okl: op_mpi_init: the global communicator is MPI_COMM_NULL: ranks without a part of the mesh do not call it
  // CHECK-NEXT: okl: op_mpi_init: MPI has not begun, so that there are no communicators
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  op_set edges = op_decl_set(2, rank == 1 && which == 3 ? "faces" : "edges"), nodes = op_decl_set(3, "nodes");
  // CHECK-NEXT: okl: op_decl_set edges: rank 1 declares something else than rank 0, where all declare their part of the same
  int numbers[] = {0, 2, 1, 2}, far[] = {0, 2, 1, 9};
  op_map map = op_decl_map(edges, nodes, 2, numbers, "map");
  double x[3] = {0};
  op_dat dat = op_decl_dat(nodes, 1, "double", x, "x");
  if (which == 4)
    op_decl_dat_overlay(op_decl_set(1, "one"), dat);
  // CHECK-NEXT: okl: op_decl_dat_overlay x: not possible where each rank declares a part of the mesh
  if (which == 5)
    op_decl_map(edges, nodes, 2, rank == 2 ? far : numbers, "far");
  // CHECK-NEXT: okl: op_decl_map far: element 5 of edges points to 9 in column 1; nodes has the elements 0 to 8
  if (which == 6)
    op_decl_set(2000000000, "large");
  // CHECK-NEXT: okl: op_decl_set large: a set of 6000000000 elements on all ranks
  if (which == 7)
    op_decl_dat(nodes, rank == 1 ? 2 : 1, "double", (double *)NULL, "y");
  // CHECK-NEXT: okl: op_decl_dat y: rank 1 declares something else than rank 0, where all declare their part of the same
  int owners[] = {0, rank == 2 ? 3 : 1, 2};
  op_dat owner = op_decl_dat(nodes, 1, "int", owners, "owner");
  if (which == 8)
    op_partition("EXTERNAL", "", edges, map, owner);
  // CHECK-NEXT: okl: op_partition EXTERNAL: element 7 of nodes belongs to rank 3; there are 0 to 2
  op_printf("done\n");
  op_exit();
  return 0;
}
