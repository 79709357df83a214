; What LLVM knows of a runtime function is not true of its replacement: attributes of the calls go.
; A function whose address is taken is replaced there as well; one the module defines is its own.
; RUN: opt-22 -load-pass-plugin=%plugin -passes='okl-lower,verify' -S %s | FileCheck %s

; CHECK: @table = global [1 x ptr] [ptr @okl.either.omp_get_num_threads], section "okl_data"
@table = global [1 x ptr] [ptr @omp_get_num_threads]

declare i32 @omp_get_num_threads()
declare zeroext i1 @omp_mine(i32)
declare i32 @omp_test_lock(ptr)

; CHECK-LABEL: define internal i32 @attributes.mpi(
; CHECK:         call i32 @okl_mpi_omp_test_lock(ptr %lock)
; CHECK-NOT:     memory
; CHECK:         call zeroext i1 @omp_mine(i32 zeroext 3)
define i32 @attributes(ptr %lock) {
  %r = call range(i32 0, 2) i32 @omp_test_lock(ptr nocapture readonly %lock) memory(argmem: read) nosync
  %m = call zeroext i1 @omp_mine(i32 zeroext 3)
  ret i32 %r
}

; CHECK-LABEL: define i32 @omp_get_level(
define i32 @omp_get_level() {
  ret i32 0
}

; CHECK-LABEL: define i32 @call_level(
; CHECK:         call i32 @omp_get_level()
define i32 @call_level() {
  %r = call i32 @omp_get_level()
  ret i32 %r
}
