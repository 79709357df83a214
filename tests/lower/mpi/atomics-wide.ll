; Accesses of 16 bytes, operations the runtime lacks, and libatomic's functions.
; RUN: opt-22 -load-pass-plugin=%plugin -passes='okl-lower<mpi>,verify' -S %s | FileCheck %s

; CHECK-LABEL: define internal i128 @wide.mpi(
; CHECK:         call void @okl_mpi_atomic_load_n(i64 16, ptr %p, ptr %[[RESULT:.*]], i32 5)
; CHECK-NEXT:    load i128, ptr %[[RESULT]]
; CHECK:         call void @okl_mpi_atomic_store_n(i64 16, ptr %p, ptr %{{.*}}, i32 5)
; CHECK:         call void @okl_mpi_atomic_exchange_n(i64 16, ptr %p, ptr %{{.*}}, ptr %{{.*}}, i32 5)
; CHECK:         call i32 @okl_mpi_atomic_compare_exchange_n(i64 16, ptr %p, ptr %{{.*}}, ptr %{{.*}}, i32 5, i32 5)
define i128 @wide(ptr %p, i128 %v) {
  %1 = load atomic i128, ptr %p acquire, align 16
  store atomic i128 %1, ptr %p release, align 16
  %2 = atomicrmw xchg ptr %p, i128 %v seq_cst, align 16
  %3 = cmpxchg ptr %p, i128 %1, i128 %v seq_cst seq_cst, align 16
  %4 = extractvalue { i128, i1 } %3, 0
  ret i128 %4
}

; CHECK-LABEL: define internal i32 @wrapping.mpi(
; CHECK:         call i64 @okl_mpi_atomic_load(ptr %p, i32 4)
; CHECK:       okl.update:
; CHECK:         icmp uge
; CHECK:         call i64 @okl_mpi_atomic_cmpxchg(ptr %p,
; CHECK:         br i1 %{{.*}}, label %okl.updated, label %okl.update
define i32 @wrapping(ptr %p) {
  %r = atomicrmw uinc_wrap ptr %p, i32 9 seq_cst, align 4
  ret i32 %r
}

; CHECK-LABEL: define internal i128 @wide_update.mpi(
; CHECK:       okl.update:
; CHECK:         add i128
; CHECK:         call i32 @okl_mpi_atomic_compare_exchange_n(i64 16,
define i128 @wide_update(ptr %p) {
  %r = atomicrmw add ptr %p, i128 9 seq_cst, align 16
  ret i128 %r
}

; CHECK-LABEL: define internal half @half_precision.mpi(
; CHECK:       okl.update:
; CHECK:         fadd half
; CHECK:         call i64 @okl_mpi_atomic_cmpxchg(ptr %p, i64 %{{.*}}, i64 %{{.*}}, i32 2)
define half @half_precision(ptr %p) {
  %r = atomicrmw fadd ptr %p, half 1.0 seq_cst, align 2
  ret half %r
}

declare void @__atomic_load(i64, ptr, ptr, i32)
declare zeroext i1 @__atomic_compare_exchange(i64, ptr, ptr, ptr, i32, i32)

; CHECK-LABEL: define internal i1 @library.mpi(
; CHECK:         call void @okl_mpi_atomic_load_n(i64 24, ptr %p, ptr %q, i32 5)
; CHECK:         %[[STATUS:.*]] = call i32 @okl_mpi_atomic_compare_exchange_n(i64 24, ptr %p, ptr %q, ptr %r, i32 5, i32 5)
; CHECK:         icmp ne i32 %[[STATUS]], 0
define i1 @library(ptr %p, ptr %q, ptr %r) {
  call void @__atomic_load(i64 24, ptr %p, ptr %q, i32 5)
  %c = call zeroext i1 @__atomic_compare_exchange(i64 24, ptr %p, ptr %q, ptr %r, i32 5, i32 5)
  ret i1 %c
}
