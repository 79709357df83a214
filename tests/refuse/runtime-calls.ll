; A call of the OpenMP runtime that ours does not have is refused by name, at its first use.
; RUN: not clang-22 -fpass-plugin=%plugin -c %s -o %t.o 2>&1 | FileCheck %s

; CHECK: error: {{.*}}in function f {{.*}}okl: this use of __kmpc_threadprivate_cached is not understood
; CHECK: error: {{.*}}in function f {{.*}}okl: threadprivate variable model::counter is also used as one that threads share
; CHECK: error: {{.*}}in function f {{.*}}okl: omp_target_alloc is not supported on MPI ranks
; CHECK: error: {{.*}}in function f {{.*}}okl: omp_get_affinity_format_ is not supported on MPI ranks
; CHECK: error: {{.*}}in function f {{.*}}okl: target regions (__tgt_target_kernel) are not supported on MPI ranks
; CHECK: error: {{.*}}runtime-calls.ll: okl: omp_control_tool is not supported on MPI ranks
; CHECK-NOT: omp_of_the_user
declare ptr @__kmpc_threadprivate_cached(ptr, i32, ptr, i64, ptr)
declare ptr @omp_target_alloc(i64, i32)
declare i64 @omp_get_affinity_format_(ptr)
declare i32 @__tgt_target_kernel(ptr, i64, i32, i32, ptr, ptr)
declare i32 @omp_control_tool(i32, i32, ptr)
declare void @omp_of_the_user()

@_QMmodelEcounter = global i32 0
@cache = global ptr null
@table = global ptr @omp_control_tool

define void @f() {
  %a = call ptr @__kmpc_threadprivate_cached(ptr null, i32 0, ptr null, i64 4, ptr null)
  %b = call ptr @omp_target_alloc(i64 8, i32 0)
  %c = call i64 @omp_get_affinity_format_(ptr null)
  %e = call ptr @__kmpc_threadprivate_cached(ptr null, i32 0, ptr @_QMmodelEcounter, i64 4, ptr @cache)
  store i32 1, ptr @_QMmodelEcounter
  %d = call i32 @__tgt_target_kernel(ptr null, i64 0, i32 0, i32 0, ptr null, ptr null)
  call void @omp_of_the_user()
  ret void
}

; An atomic access of one size that the program names itself.
; CHECK: error: {{.*}}in function g {{.*}}okl: __atomic_fetch_add_16 is not supported on MPI ranks
declare i128 @__atomic_fetch_add_16(ptr, i128, i32)
declare i1 @__atomic_is_lock_free(i64, ptr)
define void @g(ptr %p) {
  %a = call i128 @__atomic_fetch_add_16(ptr %p, i128 1, i32 5)
  %b = call i1 @__atomic_is_lock_free(i64 16, ptr %p)
  ret void
}
