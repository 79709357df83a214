; Updates by atomic minimum and maximum are accesses of their own.
; RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-loops>' -disable-output %s 2>&1 | FileCheck %s

; CHECK: arg 0: by reference, max, scalar
; CHECK: arg 1: by reference, min, scalar
; CHECK: arg 2: by reference, read and write, scalar
; CHECK: arg 3: by reference, unused, scalar

declare void @__kmpc_fork_call(ptr, i32, ptr, ...)

define void @f(ptr %a, ptr %b, ptr %c, ptr %d) {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 4, ptr @body, ptr %a, ptr %b, ptr %c, ptr %d)
  ret void
}

define internal void @body(ptr %gtid, ptr %btid, ptr %a, ptr %b, ptr %c, ptr %d) {
  %1 = atomicrmw max ptr %a, i32 1 monotonic, align 4
  %2 = atomicrmw umin ptr %b, i32 1 monotonic, align 4
  %3 = atomicrmw max ptr %c, i32 1 monotonic, align 4
  %4 = atomicrmw min ptr %c, i32 1 monotonic, align 4
  ret void
}
