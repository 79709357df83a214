// omp.h gives functions with text arguments another name, which must not reach libomp on several ranks.
// RUN: clang-22 -fopenmp -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck %s
// CHECK-LABEL: define internal i32 @f.mpi(
// CHECK: call void @omp_of_the_program
// CHECK-NOT: @omp
// CHECK: @okl_mpi_omp_set_affinity_format
// CHECK-NOT: @omp
// CHECK: @okl_mpi_omp_get_affinity_format
// CHECK-NOT: @omp
// CHECK: @okl_mpi_omp_display_affinity
// CHECK-NOT: @omp
// CHECK: @okl_mpi_omp_capture_affinity
// CHECK-NOT: @omp
// CHECK: @okl_mpi_omp_in_explicit_task
// CHECK-NOT: @omp
// CHECK: ret i32
// They are no functions of the program, whose effects the run time would ask for.
// RUN: clang-22 -fopenmp -fpass-plugin=%plugin -S -emit-llvm %s -o %t.ll
// RUN: FileCheck %s --check-prefix=TABLE < %t.ll
// TABLE-NOT: okl.translated.omp
// TABLE: @okl.callees = private constant [1 x ptr] [ptr @omp_of_the_program]
// TABLE-NOT: okl.translated.omp
#include <omp.h>

void omp_of_the_program(void);

int f(char *text) {
  omp_of_the_program();
  omp_set_affinity_format("%n");
  omp_get_affinity_format(text, 9);
  omp_display_affinity(text);
  omp_capture_affinity(text, 9, text);
  return omp_in_explicit_task();
}
