// omp.h gives functions with text arguments another name, which must not reach libomp.
// RUN: clang-22 -fopenmp -fpass-plugin=%plugin -c %s -o %t.o
// RUN: nm -u %t.o | FileCheck %s
// CHECK-NOT: {{U omp}}
// CHECK-DAG: U okl_mpi_omp_set_affinity_format
// CHECK-DAG: U okl_mpi_omp_get_affinity_format
// CHECK-DAG: U okl_mpi_omp_display_affinity
// CHECK-DAG: U okl_mpi_omp_capture_affinity
// CHECK-DAG: U okl_mpi_omp_in_explicit_task
// CHECK-NOT: {{U omp}}
#include <omp.h>

int f(char *text) {
  omp_set_affinity_format("%n");
  omp_get_affinity_format(text, 9);
  omp_display_affinity(text);
  omp_capture_affinity(text, 9, text);
  return omp_in_explicit_task();
}
