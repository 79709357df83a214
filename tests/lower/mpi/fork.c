// A fork stores the captured values in slots and hands them to the runtime; a trampoline takes them
// out again on every rank. One rank begins the region as the OpenMP program does.
// RUN: clang-22 -O0 -fopenmp -gline-tables-only -fpass-plugin=%plugin -S -emit-llvm %s -o %t.ll
// RUN: FileCheck %s < %t.ll

// CHECK:      @[[PLACE:okl.region.location]] = {{.*}}fork.c:[[# @LINE + 16]]\00"
// CHECK:      @[[REGION:okl.region]] = private global
// CHECK-SAME: { ptr @okl.invoke.f.omp_outlined, ptr @f.omp_outlined, ptr @[[PLACE]], i64 512, i64 0, ptr null, i64 0, ptr null, i64 0 }{{, align 8$}}

// CHECK-LABEL: define dso_local void @f(
// CHECK:         %[[SLOTS:.*]] = alloca [2 x i64], align 8
// CHECK:         %[[FLAG:.*]] = load i8, ptr @okl.plain
// CHECK:         %[[PLAIN:.*]] = icmp ne i8 %[[FLAG]], 0
// CHECK:         store ptr %{{.*}}, ptr %[[SLOTS]], align 8
// CHECK:         %[[SECOND:.*]] = getelementptr inbounds i8, ptr %[[SLOTS]], i64 8
// CHECK:         store i64 %{{.*}}, ptr %[[SECOND]], align 8
// CHECK:         call void @okl_mpi_fork(ptr @[[REGION]], ptr %[[SLOTS]], i64 2), !dbg
// CHECK:         br i1 %[[PLAIN]], label %[[ONE:.*]], label %{{.*}}, !dbg
// CHECK:       [[ONE]]:
// CHECK-NEXT:    call void (ptr, i32, ptr, ...) @okl_mpi_plain_fork_call(ptr @{{.*}}, i32 2, ptr @f.omp_outlined.plain, ptr %{{.*}}, i64 %{{.*}}), !dbg
void f(int shared, int copy) {
#pragma omp parallel firstprivate(copy)
  shared = copy;
}

// CHECK-LABEL: define internal void @okl.invoke.f.omp_outlined(ptr %0, ptr %1, ptr %2)
// CHECK:         %[[A:.*]] = load ptr, ptr %2
// CHECK:         %[[SLOT:.*]] = getelementptr inbounds i8, ptr %2, i64 8
// CHECK:         %[[B:.*]] = load i64, ptr %[[SLOT]]
// CHECK:         call void @f.omp_outlined(ptr %0, ptr %1, ptr %[[A]], i64 %[[B]])
