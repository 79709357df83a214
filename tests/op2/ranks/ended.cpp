// After op_exit a program may print what it knows, and no more: nothing calls MPI once it has ended, whoever has ended it,
// and one rank says the same as several. What is wrong is told, and the job ends with okl's status.
//
// RUN: clang++-22 -std=c++11 -O1 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: for n in $(seq 0 5); do (%t $n; echo "$n ends with $?") 2>&1; done | FileCheck --match-full-lines %s
// RUN: for n in $(seq 0 5); do (mpirun --allow-run-as-root --oversubscribe -n 2 %t $n; echo "$n ends with $?") 2>&1 | grep -e ^okl: -e ^ended -e '^[0-9] ends' -e MPI_; done | FileCheck --match-full-lines %s
// RUN: OMPI_CXX=clang++-22 mpicxx -std=c++11 -O1 -DSTARTS -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.starts
// RUN: (mpirun --allow-run-as-root --oversubscribe -n 2 %t.starts 2; echo "2 ends with $?") 2>&1 | grep -e ^okl: -e '^2 ends' -e MPI_ | FileCheck --match-full-lines --check-prefix=STARTS %s
// STARTS:      okl: op_init is called after op_exit: a program begins once, as MPI does
// STARTS-NEXT: 2 ends with 70
#include "op_seq.h"
#ifdef STARTS
#include <mpi.h>
#endif

int main(int argc, char **argv) {
  int const which = atoi(argv[1]);
#ifdef STARTS
  MPI_Init(&argc, &argv);
#endif
  if (which == 0)
    op_barrier();
  // CHECK:      okl: op_barrier is called before op_init
  // CHECK-NEXT: 0 ends with 70
  op_init(argc, argv, 0);
  op_barrier();
  op_mpi_barrier();
  op_exit();
#ifdef STARTS
  MPI_Finalize();
#endif
  double cpu, wall;
  op_timers(&cpu, &wall);
  if (which == 1)
    op_printf("ended\n");
  // CHECK-NEXT: ended
  // CHECK-NEXT: 1 ends with 0
  if (which == 2)
    op_init(argc, argv, 0);
  // CHECK-NEXT: okl: op_init is called after op_exit: a program begins once, as MPI does
  // CHECK-NEXT: 2 ends with 70
  if (which == 3)
    op_decl_set(1, "set");
  // CHECK-NEXT: okl: op_decl_set is called after op_exit
  // CHECK-NEXT: 3 ends with 70
  if (which == 4)
    op_barrier();
  // CHECK-NEXT: okl: op_barrier is called after op_exit
  // CHECK-NEXT: 4 ends with 70
  if (which == 5)
    op_mpi_barrier();
  // CHECK-NEXT: okl: op_mpi_barrier is called after op_exit
  // CHECK-NEXT: 5 ends with 70
}
