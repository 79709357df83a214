// MPI is started where a launcher has started the program, and nowhere else; a program that has started it itself ends it
// itself. What several ranks write over the same memory is written by all of them.
//
// RUN: clang++-22 -std=c++11 -O2 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: %t 0 | FileCheck --match-full-lines --check-prefix=ALONE %s
// RUN: OMPI_CXX=clang++-22 mpicxx -std=c++11 -O2 -I%op2-include %s -Wl,--no-as-needed -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.mpi
// RUN: %t.mpi 1 | FileCheck --match-full-lines --check-prefix=ITSELF %s
// RUN: OKL_BACKEND=cpu mpirun --allow-run-as-root --oversubscribe -n 1 %t 0 | FileCheck --match-full-lines --check-prefix=ALONE %s
// RUN: mpirun --allow-run-as-root --oversubscribe -n 2 %t 0 | FileCheck --match-full-lines --check-prefix=RANKS %s
// RUN: mpirun --allow-run-as-root --oversubscribe -n 2 %t.mpi 1 | FileCheck --match-full-lines --check-prefix=ITSELF-RANKS %s
//
// ALONE:      started 0 rank 0
// ALONE-NEXT: sum 10 9 5 1
// ALONE-NEXT: ended 0
// ITSELF:      started 1 rank 0
// ITSELF-NEXT: sum 10 9 5 1
// ITSELF-NEXT: ended 0
// RANKS:      started 1 rank 0
// RANKS-NEXT: sum 10 9 5 1
// RANKS-NEXT: ended 1
// ITSELF-RANKS:      started 1 rank 0
// ITSELF-RANKS-NEXT: sum 10 9 5 1
// ITSELF-RANKS-NEXT: ended 0
#include "op_seq.h"

#include <dlfcn.h>

// A program that has nothing to do with MPI has none.
static int flag_of(char const *name) {
  int flag = 0;
  auto ask = (int (*)(int *))dlsym(RTLD_DEFAULT, name);
  if (ask)
    ask(&flag);
  return flag;
}

static void total(double const *x, double *sum) { *sum += *x; }
static void more(double *x) { *x += 1; }

int main(int argc, char **argv) {
  int const itself = atoi(argv[1]);
  if (itself)
    ((int (*)(int *, char ***))dlsym(RTLD_DEFAULT, "MPI_Init"))(&argc, &argv);
  op_init(argc, argv, 0);
  int rank;
  op_rank(&rank);
  op_printf("started %d rank %d\n", flag_of("MPI_Initialized"), rank);
  fflush(stdout);
  op_set set = op_decl_set(4, "set"), part = op_decl_set(3, "part");
  double values[] = {1, 2, 3, 4}, sum = 0;
  op_dat x = op_decl_dat(set, 1, "double", values, "x");
  op_par_loop(total, "total", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ), op_arg_gbl(&sum, 1, "double", OP_INC));
  op_dat over = op_decl_dat_overlay(part, x);
  op_par_loop(more, "more", part, op_arg_dat(over, -1, OP_ID, 1, "double", OP_RW));
  double after = 0, again[4];
  op_par_loop(total, "total", part, op_arg_dat(over, -1, OP_ID, 1, "double", OP_READ), op_arg_gbl(&after, 1, "double", OP_INC));
  op_fetch_data(x, again);
  op_printf("sum %g %g %g %d\n", sum, after, again[3] + 1, again[0] == 2);
  op_exit();
  if (rank == 0)
    printf("ended %d\n", flag_of("MPI_Finalized"));
  if (itself)
    ((int (*)())dlsym(RTLD_DEFAULT, "MPI_Finalize"))();
  return 0;
}
