// Every call of the OpenMP runtime becomes a call of ours, and on several ranks nothing of libomp is called.
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -S -emit-llvm %s -o %t.ll
// RUN: awk '/^define.*(mpi|omp_outlined|entry[.0-9]*)\(/,/^}/' %t.ll | FileCheck %s --check-prefix=NONE
// NONE:     define
// NONE-NOT: {{@__kmpc|@omp_|@__tgt}}
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -c %s -o %t.o
// RUN: nm -u %t.o | FileCheck %s
// CHECK-DAG: U okl_mpi_kmpc_for_static_init_4
// CHECK-DAG: U okl_mpi_kmpc_critical
// CHECK-DAG: U okl_mpi_kmpc_omp_task_alloc
// CHECK-DAG: U okl_mpi_omp_get_wtime
// CHECK-DAG: U okl_mpi_kmpc_dispatch_next_8
#include <omp.h>

double f(int n, double *a) {
  double sum = 0;
#pragma omp parallel num_threads(n) if (n > 1)
  {
#pragma omp for reduction(+ : sum) nowait
    for (int i = 0; i < n; i++) sum += a[i];
#pragma omp for schedule(dynamic)
    for (long i = 0; i < n; i++) a[i] = omp_get_thread_num();
#pragma omp critical
    a[0] = n - a[0];
#pragma omp single
#pragma omp task
    a[1]++;
#pragma omp taskwait
#pragma omp barrier
#pragma omp master
    a[2] = omp_get_num_threads();
  }
  return sum + omp_get_wtime();
}
