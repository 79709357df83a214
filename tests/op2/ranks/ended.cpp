// After op_exit a program of one rank may begin again. One of several prints what it knows, and no more: nothing calls MPI
// once it has ended, whoever has ended it, and what needs other ranks is refused, where the program's own MPI goes on,
// too. What is wrong is told with its place, and the job ends with okl's status. A rank that is slow says the same again,
// for itself. A job that ends so waits for a second or two: all ten are started at once.
//
// RUN: clang++-22 -std=c++11 -O1 -g -fpass-plugin=%plugin -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t
// RUN: for n in $(seq 0 9); do (%t $n; echo "$n ends with $?") 2>&1; done | FileCheck --match-full-lines --check-prefix=ALONE %s
// RUN: for n in $(seq 0 9); do (timeout 60 mpirun --allow-run-as-root --oversubscribe -n 2 %t $n; echo "$n ends with $?") > %t.told.$n 2>&1 & done; wait; for n in $(seq 0 9); do sed 's/^okl: rank 1: /okl: /' %t.told.$n | grep -e ^okl: -e ^ended -e '^[0-9] ends' -e 'The MPI_'; done | uniq | FileCheck --match-full-lines --check-prefix=RANKS %s
// RUN: OMPI_CXX=clang++-22 mpicxx -std=c++11 -O1 -g -fpass-plugin=%plugin -DSTARTS=1 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.starts
// RUN: for n in $(seq 0 9); do (timeout 60 mpirun --allow-run-as-root --oversubscribe -n 2 %t.starts $n; echo "$n ends with $?") > %t.told.$n 2>&1 & done; wait; for n in $(seq 0 9); do sed 's/^okl: rank 1: /okl: /' %t.told.$n | grep -e ^okl: -e ^ended -e '^[0-9] ends' -e 'The MPI_'; done | uniq | FileCheck --match-full-lines --check-prefix=RANKS %s
// RUN: OMPI_CXX=clang++-22 mpicxx -std=c++11 -O1 -g -fpass-plugin=%plugin -DSTARTS=2 -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.ends
// RUN: for n in $(seq 0 9); do (timeout 60 mpirun --allow-run-as-root --oversubscribe -n 2 %t.ends $n; echo "$n ends with $?") > %t.told.$n 2>&1 & done; wait; for n in $(seq 0 9); do sed 's/^okl: rank 1: /okl: /' %t.told.$n | grep -e ^okl: -e ^ended -e '^[0-9] ends' -e 'The MPI_'; done | uniq | FileCheck --match-full-lines --check-prefix=RANKS %s
//
// What goes wrong on one rank while MPI ends, ends the others by MPI.
// RUN: OMPI_CXX=clang++-22 mpicxx -std=c++11 -O1 -g -fpass-plugin=%plugin -DFAILS -rdynamic -I%op2-include %s -L%runtime-dir -lokl_op2 -Wl,-rpath,%runtime-dir -o %t.fails
// RUN: (timeout 60 mpirun --allow-run-as-root --oversubscribe -n 2 %t.fails 6; echo "6 ends with $?") 2>&1 | grep -e ^okl: -e '^6 ends' -e ^abort | FileCheck --match-full-lines --check-prefix=FAILS %s
// FAILS:      okl: rank 1: {{.*}}ended.cpp:[[#@LINE+19]]: op_decl_set is called after op_exit
// FAILS-NEXT: abort
// FAILS-NEXT: 6 ends with 70
#include "op_seq.h"
#if defined(STARTS) || defined(FAILS)
#include <mpi.h>
#endif

#ifdef FAILS
#include <unistd.h>
extern "C" int MPI_Abort(MPI_Comm all, int status) {
  (void)!write(2, "abort\n", 6);
  return PMPI_Abort(all, status);
}

static int fail(MPI_Comm, int, void *, void *) {
  int rank;
  op_rank(&rank);
  if (rank == 1)
    op_decl_set(1, "set");
  return MPI_SUCCESS;
}
#endif

int main(int argc, char **argv) {
  int const which = atoi(argv[1]);
#ifdef STARTS
  MPI_Init(&argc, &argv);
#endif
  if (which == 0)
    op_barrier();
  // ALONE:      0 ends with 0
  // RANKS:      okl: {{.*}}ended.cpp:[[#@LINE-2]]: op_barrier is called before op_init
  // RANKS-NEXT: 0 ends with 70
  op_init(argc, argv, 0);
  op_barrier();
  op_mpi_barrier();
#ifdef FAILS
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, fail, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
#endif
  op_exit();
#if defined(STARTS) && STARTS == 2
  MPI_Finalize();
#endif
  double cpu, wall, first = 3, second = 9;
  op_timers(&cpu, &wall);
  int rank;
  op_rank(&rank);
  if (which == 1)
    op_printf("ended\n");
  // ALONE-NEXT: ended
  // ALONE-NEXT: 1 ends with 0
  // RANKS-NEXT: ended
  // RANKS-NEXT: 1 ends with 0
  if (which == 2)
    op_init(argc, argv, 0);
  // ALONE-NEXT: 2 ends with 0
  // RANKS-NEXT: okl: {{.*}}ended.cpp:[[#@LINE-2]]: op_init is called after op_exit: a program joins a job once, as MPI begins once
  // RANKS-NEXT: 2 ends with 70
  if (which == 3)
    op_decl_set(1, "set");
  // ALONE-NEXT: okl: {{.*}}ended.cpp:[[#@LINE-1]]: op_decl_set is called after op_exit
  // ALONE-NEXT: 3 ends with 70
  // RANKS-NEXT: okl: {{.*}}ended.cpp:[[#@LINE-3]]: op_decl_set is called after op_exit
  // RANKS-NEXT: 3 ends with 70
  if (which == 4)
    op_barrier();
  // ALONE-NEXT: 4 ends with 0
  // RANKS-NEXT: okl: {{.*}}ended.cpp:[[#@LINE-2]]: op_barrier is called after op_exit
  // RANKS-NEXT: 4 ends with 70
  if (which == 5)
    op_mpi_barrier();
  // ALONE-NEXT: 5 ends with 0
  // RANKS-NEXT: okl: {{.*}}ended.cpp:[[#@LINE-2]]: op_mpi_barrier is called after op_exit
  // RANKS-NEXT: 5 ends with 70
  if (which == 6)
    op_compute_moment(rank, &first, &second);
  // ALONE-NEXT: 6 ends with 0
  // RANKS-NEXT: okl: {{.*}}ended.cpp:[[#@LINE-2]]: op_compute_moment is called after op_exit
  // RANKS-NEXT: 6 ends with 70
  if (which == 7)
    op_compute_moment_across_times(&wall, 1, false, &first, &second);
  // ALONE-NEXT: 7 ends with 0
  // RANKS-NEXT: okl: {{.*}}ended.cpp:[[#@LINE-2]]: op_compute_moment_across_times is called after op_exit
  // RANKS-NEXT: 7 ends with 70
  if (which == 8)
    op_timings_to_csv("/dev/null");
  // ALONE-NEXT: 8 ends with 0
  // RANKS-NEXT: okl: warning: {{.*}}ended.cpp:[[#@LINE-2]]: op_timings_to_csv is called after op_exit: the times are those of rank 0
  // RANKS-NEXT: 8 ends with 0
  if (which == 9 && rank == 0)
    op_decl_set(1, "set");
  // ALONE-NEXT: okl: {{.*}}ended.cpp:[[#@LINE-1]]: op_decl_set is called after op_exit
  // ALONE-NEXT: 9 ends with 70
  // RANKS-NEXT: okl: {{.*}}ended.cpp:[[#@LINE-3]]: op_decl_set is called after op_exit
  // RANKS-NEXT: 9 ends with 70
#if defined(STARTS) && STARTS == 1
  MPI_Barrier(MPI_COMM_WORLD);
  if (which == 1)
    MPI_Finalize();
#endif
}
