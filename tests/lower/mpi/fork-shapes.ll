; Forks in forms clang does not emit itself: an invoke, whose function has two versions, a narrow capture, no capture, a
; league.
; RUN: opt-22 -load-pass-plugin=%plugin -passes='okl-lower,verify' -S %s | FileCheck %s

declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
declare void @__kmpc_fork_teams(ptr, i32, ptr, ...)
declare i32 @__gxx_personality_v0(...)

; CHECK-LABEL: define internal void @by_invoke.mpi(
; CHECK:         invoke void @okl_mpi_fork(ptr @okl.region, ptr null, i64 0)
; CHECK-NEXT:          to label %done unwind label %caught
define void @by_invoke() personality ptr @__gxx_personality_v0 {
  invoke void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 0, ptr @empty)
          to label %done unwind label %caught
done:
  ret void
caught:
  %pad = landingpad { ptr, i32 } cleanup
  ret void
}

; A region that two forks run has one trampoline.
; CHECK-LABEL: define void @narrow(
; CHECK:         %[[WIDE:.*]] = zext i8 %byte to i64
; CHECK:         store i64 %[[WIDE]]
; CHECK:         store float %real
; CHECK:         call void @okl_mpi_fork(
; CHECK:         call void @okl_mpi_fork(
define void @narrow(i8 %byte, float %real) {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 2, ptr @small, i8 %byte, float %real)
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 2, ptr @small, i8 %byte, float %real)
  ret void
}

; CHECK-LABEL: define void @league(
; CHECK:         call void @okl_mpi_fork_teams(
; CHECK:         @__kmpc_fork_teams(ptr null, i32 0, ptr @empty.plain)
define void @league() {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_teams(ptr null, i32 0, ptr @empty)
  ret void
}

define internal void @empty(ptr %gtid, ptr %btid) {
  ret void
}

define internal void @small(ptr %gtid, ptr %btid, i8 %byte, float %real) {
  ret void
}

; CHECK-COUNT-1: define internal void @okl.invoke.small(
; CHECK:           %[[SLOT:.*]] = load i64, ptr %2
; CHECK:           %[[BYTE:.*]] = trunc i64 %[[SLOT]] to i8
; CHECK:           %[[REAL:.*]] = load float, ptr
; CHECK:           call void @small(ptr %0, ptr %1, i8 %[[BYTE]], float %[[REAL]])
