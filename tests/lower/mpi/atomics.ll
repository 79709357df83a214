; Atomic instructions become runtime calls; values cross as zero-extended 64-bit integers.
; RUN: opt-22 -load-pass-plugin=%plugin -passes='okl-lower<mpi>,verify' -S %s | FileCheck %s

; CHECK-LABEL: define internal i16 @load.mpi(
; CHECK:         %[[BITS:.*]] = call i64 @okl_mpi_atomic_load(ptr %p, i32 2)
; CHECK:         %[[VALUE:.*]] = trunc i64 %[[BITS]] to i16
; CHECK:         ret i16 %[[VALUE]]
define i16 @load(ptr %p) {
  %v = load atomic i16, ptr %p acquire, align 2
  ret i16 %v
}

; CHECK-LABEL: define internal void @store.mpi(
; CHECK:         %[[INT:.*]] = bitcast float %v to i32
; CHECK:         %[[WIDE:.*]] = zext i32 %[[INT]] to i64
; CHECK:         call void @okl_mpi_atomic_store(ptr %p, i64 %[[WIDE]], i32 4)
define void @store(ptr %p, float %v) {
  store atomic float %v, ptr %p release, align 4
  ret void
}

; The numbers are those of okl_abi::AtomicOp.
; CHECK-LABEL: define internal void @updates.mpi(
; CHECK:         call i64 @okl_mpi_atomic_rmw(ptr %p, i32 0, i64 %{{.*}}, i32 4)
; CHECK:         call void @okl_mpi_atomic_update(ptr %p, i32 1, i64 %{{.*}}, i32 4)
; CHECK:         call void @okl_mpi_atomic_update(ptr %p, i32 2, i64 %{{.*}}, i32 4)
; CHECK:         call i64 @okl_mpi_atomic_rmw(ptr %p, i32 4, i64 %{{.*}}, i32 4)
; CHECK:         call void @okl_mpi_atomic_update(ptr %p, i32 7, i64 %{{.*}}, i32 4)
; CHECK:         call void @okl_mpi_atomic_update(ptr %p, i32 10, i64 %{{.*}}, i32 4)
; CHECK:         call void @okl_mpi_atomic_update(ptr %p, i32 11, i64 %{{.*}}, i32 8)
; CHECK:         call void @okl_mpi_atomic_update(ptr %p, i32 14, i64 %{{.*}}, i32 4)
define void @updates(ptr %p, i32 %v, double %d, float %f) {
  %1 = atomicrmw xchg ptr %p, i32 %v seq_cst, align 4
  %2 = atomicrmw add ptr %p, i32 %v monotonic, align 4
  %3 = atomicrmw sub ptr %p, i32 %v monotonic, align 4
  %4 = atomicrmw nand ptr %p, i32 %v monotonic, align 4
  %5 = atomicrmw max ptr %p, i32 %v monotonic, align 4
  %6 = atomicrmw umin ptr %p, i32 %v monotonic, align 4
  %7 = atomicrmw fadd ptr %p, double %d monotonic, align 8
  %8 = atomicrmw fmin ptr %p, float %f monotonic, align 4
  ret void
}

; CHECK-LABEL: define internal { ptr, i1 } @compare.mpi(
; CHECK:         %[[E:.*]] = ptrtoint ptr %e to i64
; CHECK:         %[[D:.*]] = ptrtoint ptr %d to i64
; CHECK:         %[[OLD:.*]] = call i64 @okl_mpi_atomic_cmpxchg(ptr %p, i64 %[[E]], i64 %[[D]], i32 8)
; CHECK:         %[[SWAPPED:.*]] = icmp eq i64 %[[OLD]], %[[E]]
; CHECK:         %[[VALUE:.*]] = inttoptr i64 %[[OLD]] to ptr
; CHECK:         %[[HALF:.*]] = insertvalue { ptr, i1 } poison, ptr %[[VALUE]], 0
; CHECK:         insertvalue { ptr, i1 } %[[HALF]], i1 %[[SWAPPED]], 1
define { ptr, i1 } @compare(ptr %p, ptr %e, ptr %d) {
  %r = cmpxchg weak ptr %p, ptr %e, ptr %d seq_cst seq_cst, align 8
  ret { ptr, i1 } %r
}

; Memory that no other thread can see stays as it is. A fence publishes what this rank wrote before it and
; drops copies after it; one within a thread does nothing.
; CHECK-LABEL: define internal i32 @private.mpi(
; CHECK:         atomicrmw add ptr %v
; CHECK-NEXT:    call void @okl_mpi_atomic_release()
; CHECK-NEXT:    call void @okl_mpi_atomic_acquire()
; CHECK-NEXT:    fence seq_cst
; CHECK-NEXT:    call void @okl_mpi_atomic_release()
; CHECK-NEXT:    fence release
; CHECK-NEXT:    call void @okl_mpi_atomic_acquire()
; CHECK-NEXT:    fence acquire
; CHECK-NEXT:    fence syncscope("singlethread") seq_cst
define i32 @private() {
  %v = alloca i32
  store i32 1, ptr %v
  %r = atomicrmw add ptr %v, i32 2 monotonic, align 4
  fence seq_cst
  fence release
  fence acquire
  fence syncscope("singlethread") seq_cst
  ret i32 %r
}
