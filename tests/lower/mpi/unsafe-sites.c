// A check stands in front of each unsafe construct; in a waiting loop, at its start.
// RUN: clang-22 -O0 -gline-tables-only -fpass-plugin=%plugin -mllvm -okl-target=mpi -S -emit-llvm %s -o %t.ll
// RUN: FileCheck %s < %t.ll
#include <stdlib.h>

// CHECK-DAG: @okl.unsafe.reason = private unnamed_addr constant {{.*}}c"waits for another thread to change a variable, without a synchronisation point\00"
// CHECK-DAG: @okl.unsafe.location = private unnamed_addr constant {{.*}}unsafe-sites.c:[[# @LINE + 14]]\00"
// CHECK-DAG: @okl.unsafe = private constant { ptr, ptr } { ptr @okl.unsafe.reason, ptr @okl.unsafe.location }
// CHECK-DAG: @okl.unsafe.location{{[.0-9]+}} = private unnamed_addr constant {{.*}}unsafe-sites.c:[[# @LINE + 14]]\00"

// CHECK-LABEL: define internal i32 @f.mpi(
// CHECK:         br label %[[LOOP:[0-9]+]]
// CHECK:       [[LOOP]]:
// CHECK-NEXT:    call void @okl_mpi_waits_here(ptr @okl.waits, ptr %{{[0-9]+}})
// CHECK-NEXT:    call void @okl_mpi_unsafe_here(ptr @okl.unsafe)
// CHECK:         load volatile i32
// CHECK:         call void @okl_mpi_unsafe_here(ptr @okl.unsafe.{{[0-9]+}})
// CHECK-NEXT:    call i32 @rand()
int f(volatile int *flag) {
  int count = 0;
  while (*flag == 0)
    count++;
  return count + rand();
}
