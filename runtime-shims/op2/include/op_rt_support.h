// What the parallel loops of programs compiled against OP2's own headers call.
#ifndef OKL_OP_RT_SUPPORT_H
#define OKL_OP_RT_SUPPORT_H

#include "op_lib_core.h"

#ifdef __cplusplus
extern "C" {
#endif

void op_arg_check(op_set set, int position, op_arg argument, int *indirect, char const *name);
int op_mpi_halo_exchanges(op_set set, int count, op_arg *arguments);
void op_mpi_wait_all(int count, op_arg *arguments);
void op_mpi_test_all(int count, op_arg *arguments);  // lends MPI a hand
void op_mpi_set_dirtybit(int count, op_arg *arguments);
void op_mpi_reduce_float(op_arg *argument, float *data);
void op_mpi_reduce_double(op_arg *argument, double *data);
void op_mpi_reduce_int(op_arg *argument, int *data);
void op_mpi_reduce_bool(op_arg *argument, bool *data);
void *op_mpi_perf_time(char const *name, double seconds);

void op_mpi_perf_comms(void *kernel, int count, op_arg *arguments);  // does nothing

// Frees what is known of which elements may run at the same time: loops find it out again.
void op_rt_exit(void);

// Whether two names of types mean the same: "double" and "double:soa" do.
bool op_type_equivalence(char const *a, char const *b);

#ifdef __cplusplus
}
#endif

#endif
