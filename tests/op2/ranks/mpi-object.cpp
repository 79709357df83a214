// OP2 programs load MPI where a launcher has started them, through an object of its own, or where they have started it
// themselves; what is wrong with the object is told.
//
// RUN: clang++-22 -std=c++11 -O1 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: %t | FileCheck --check-prefix=ALONE %s
// RUN: env OKL_MPI=%t.none.so OKL_BACKEND=seq %t | FileCheck --check-prefix=ALONE %s
// ALONE: total 10, libmpi: 0, libokl_job_mpi: 0
// RUN: mpirun --allow-run-as-root --oversubscribe -n 2 %t | FileCheck --check-prefix=RANKS %s
// RANKS: total 10, libmpi: 1, libokl_job_mpi: 1
// RUN: (mpirun --allow-run-as-root --oversubscribe -n 2 -x OKL_MPI=%t.none.so %t; echo "ends with $?") 2>&1 | grep -e '^okl:' -e '^ends' | FileCheck --match-full-lines --check-prefix=NONE %s
// NONE: okl: ranks need MPI, which okl calls through [[FILE:.*\.none\.so]]: [[FILE]]: cannot open shared object file: No such file or directory; install okl again, or name one that is built for your MPI with OKL_MPI=FILE
// NONE-NEXT: ends with 70
// RUN: (FLUX_JOB_SIZE=2 FLUX_TASK_RANK=1 %t; echo "ends with $?") 2>&1 | FileCheck --match-full-lines --check-prefix=LAUNCHER %s
// LAUNCHER: okl: rank 1: the launcher has started 2 ranks (FLUX_JOB_SIZE), and MPI has found 1: take the launcher of the MPI that okl is built for, or name an object that is built for this one with OKL_MPI=FILE
// LAUNCHER-NEXT: ends with 70
//
// RUN: OMPI_CXX=clang++-22 mpicxx -std=c++11 -O1 -DSTARTS -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.starts
// RUN: %t.starts | FileCheck --check-prefix=RANKS %s
// RUN: mpirun --allow-run-as-root --oversubscribe -n 2 %t.starts | FileCheck --check-prefix=RANKS %s
#include "op_seq.h"
#include "../../launch/is_loaded.h"
#ifdef STARTS
#include <mpi.h>
#endif

static void add(const int *value, int *total) { *total += *value; }

int main(int argc, char **argv) {
#ifdef STARTS
  MPI_Init(&argc, &argv);
#endif
  op_init(argc, argv, 0);
  int values[] = {1, 2, 3, 4}, total = 0;
  op_set cells = op_decl_set(4, "cells");
  op_dat data = op_decl_dat(cells, 1, "int", values, "data");
  op_par_loop(add, "add", cells, op_arg_dat(data, -1, OP_ID, 1, "int", OP_READ),
              op_arg_gbl(&total, 1, "int", OP_INC));
  op_printf("total %d, libmpi: %d, libokl_job_mpi: %d\n", total, is_loaded("/libmpi"), is_loaded("/libokl_job_mpi"));
  op_exit();
#ifdef STARTS
  MPI_Finalize();
#endif
}
