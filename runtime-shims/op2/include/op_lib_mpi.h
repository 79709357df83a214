// For programs that call MPI themselves. Where this is included, sizes, maps and data are those of a rank's part of
// the mesh: parts follow each other in the order of the ranks, and maps have the numbers that elements have then.
#ifndef OKL_OP_LIB_MPI_H
#define OKL_OP_LIB_MPI_H

#include <mpi.h>

#include "op_lib_c.h"

// The rank that prints; MPI's own constant is for communication between groups.
#undef MPI_ROOT
#define MPI_ROOT 0

#ifdef __cplusplus
extern "C" {
#endif

extern MPI_Comm OP_MPI_WORLD, OP_MPI_GLOBAL;

// Begins on the ranks of `local`, when MPI has begun.
void op_mpi_init(int argc, char **argv, int diags, MPI_Fint global, MPI_Fint local);
void op_mpi_init_soa(int argc, char **argv, int diags, MPI_Fint global, MPI_Fint local, int soa);

// Distributes the mesh if it is not, as the first loop does where this is not called. What is here of others goes with
// the mesh: destroying it does nothing, and loops may follow.
void op_halo_create(void);
void op_halo_destroy(void);

// op_partition by the owners of the elements of `set`, at random, and by the place of the elements that have coordinates
// (recursive coordinate bisection).
void op_partition_external(op_set set, op_dat owners);
void op_partition_random(op_set set);
void op_partition_inertial(op_dat coords);

// A copy of what this rank has declared of `dat`, as it is now: free() its data, its set and itself. All ranks call it.
op_dat op_mpi_get_data(op_dat dat);
void op_mpi_put_data(op_dat dat);  // does nothing, as in OP2

void okl_op2_sizes_are_local(void);
__attribute__((constructor)) static void okl_op2_includes_op_lib_mpi(void) {
  okl_op2_sizes_are_local();
}

#ifdef __cplusplus
}
#endif

#endif
