// A threadprivate variable is reached through a pointer of each thread, which the runtime fills.
// RUN: clang-22 -O0 -fopenmp -fpass-plugin=%plugin -S -emit-llvm %s -o %t.ll
// RUN: FileCheck %s < %t.ll
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -c %s -o %t.o

// CHECK-DAG: @okl.tp.counter = thread_local externally_initialized global ptr null, align 8
// CHECK-DAG: @okl.tp.image.counter = private constant i32 7
int counter = 7;
#pragma omp threadprivate(counter)
// CHECK-DAG: @okl.tp.large = internal thread_local externally_initialized global ptr null, align 8
// CHECK-DAG: @okl.tp.image.large = private global [1000 x i64] zeroinitializer
static _Thread_local long large[1000];
// CHECK-DAG: @okl.tp.elsewhere = external thread_local global ptr, align 8
extern _Thread_local int elsewhere;
// CHECK-DAG: @okl.thread_privates = private constant {{.*}}{ ptr @okl.place.counter, ptr @okl.tp.image.counter, i64 4, i64 4, ptr @{{.*}} }, { ptr, ptr, i64, i64, ptr } { ptr @okl.place.large, ptr @okl.tp.image.large, i64 8000, i64 16,

// CHECK-LABEL: define internal i64 @f.mpi(
// CHECK:         %[[COPY:.*]] = load ptr, ptr @okl.tp.counter
// CHECK-NEXT:    load i32, ptr %[[COPY]]
// CHECK:         load ptr, ptr @okl.tp.large
// CHECK:         load ptr, ptr @okl.tp.elsewhere
// CHECK-NOT:     call {{.*}}threadlocal.address
// CHECK:         ret i64
long f(void) { return counter + large[1] + elsewhere; }
