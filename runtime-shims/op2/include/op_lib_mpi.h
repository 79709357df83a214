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

void okl_op2_sizes_are_local(void);
__attribute__((constructor)) static void okl_op2_includes_op_lib_mpi(void) {
  okl_op2_sizes_are_local();
}

#ifdef __cplusplus
}
#endif

#endif
