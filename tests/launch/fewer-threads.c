// A region that asks for more threads than a team has says so, once; not where a program lets the run time
// decide, or in a nested region.
//
// RUN: clang-22 -O1 -gline-tables-only -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | LC_ALL=C sort | FileCheck %s
//
// CHECK-NOT: warning
// CHECK: okl: rank 0: warning: the parallel region at {{.*}}fewer-threads.c:18 asks for 5 threads and gets 2: no team has more
// CHECK-NEXT: okl: rank 0: warning: the parallel region at {{.*}}fewer-threads.c:29 asks for 7 threads and gets 2: no team has more
// CHECK-NOT: warning
// CHECK: teams: 2 2 2 2
#include <omp.h>
#include <stdio.h>

int main(void) {
  int by_clause = 0, fewer = 0, by_function = 0, adjusted = 0;
  for (int round = 0; round < 3; round++)
#pragma omp parallel num_threads(5)
#pragma omp single
    by_clause = omp_get_num_threads();
#pragma omp parallel num_threads(2)
  {
#pragma omp parallel num_threads(3)
    if (omp_get_num_threads() != 1) fewer = 100;
#pragma omp single
    fewer += omp_get_num_threads();
  }
  omp_set_num_threads(7);
#pragma omp parallel
#pragma omp single
  by_function = omp_get_num_threads();
  omp_set_dynamic(1);
#pragma omp parallel num_threads(9)
#pragma omp single
  adjusted = omp_get_num_threads();
  printf("teams: %d %d %d %d\n", by_clause, fewer, by_function, adjusted);
  return 0;
}
