; Codes of schedules: those of one chunk at a time mean the same; of one that is not known it is not known either
; whether the loop is ordered.
; RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-loops>' -disable-output %s 2>&1 | FileCheck %s

; CHECK:      step 0: dynamic i32 loop 0 to 9, chunks of 3, each thread; barrier, step 1
; CHECK-NEXT: step 1: static i32 loop 0 to 9, ordered, each thread; barrier, step 2
; CHECK-NEXT: step 2: unknown i32 loop 0 to 9, each thread; barrier, step 3
; CHECK-NEXT: step 3: unknown i32 loop 0 to 9, perhaps ordered, each thread; barrier, step 4
; CHECK-NEXT: step 4: unknown i32 loop 0 to 9, perhaps ordered, each thread; barrier, step 5

declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
declare void @__kmpc_barrier(ptr, i32)
declare void @__kmpc_dispatch_init_4(ptr, i32, i32, i32, i32, i32, i32)
declare void @__kmpc_dispatch_deinit(ptr, i32)

define internal void @code(ptr %id, ptr %bound, ptr %kind) {
  %schedule = load i32, ptr %kind
  call void @__kmpc_dispatch_init_4(ptr null, i32 0, i32 1073741987, i32 0, i32 9, i32 1, i32 3)
  call void @__kmpc_dispatch_deinit(ptr null, i32 0)
  call void @__kmpc_barrier(ptr null, i32 0)
  call void @__kmpc_dispatch_init_4(ptr null, i32 0, i32 194, i32 0, i32 9, i32 1, i32 3)
  call void @__kmpc_dispatch_deinit(ptr null, i32 0)
  call void @__kmpc_barrier(ptr null, i32 0)
  call void @__kmpc_dispatch_init_4(ptr null, i32 0, i32 39, i32 0, i32 9, i32 1, i32 3)
  call void @__kmpc_dispatch_deinit(ptr null, i32 0)
  call void @__kmpc_barrier(ptr null, i32 0)
  call void @__kmpc_dispatch_init_4(ptr null, i32 0, i32 80, i32 0, i32 9, i32 1, i32 3)
  call void @__kmpc_dispatch_deinit(ptr null, i32 0)
  call void @__kmpc_barrier(ptr null, i32 0)
  call void @__kmpc_dispatch_init_4(ptr null, i32 0, i32 %schedule, i32 0, i32 9, i32 1, i32 3)
  call void @__kmpc_dispatch_deinit(ptr null, i32 0)
  call void @__kmpc_barrier(ptr null, i32 0)
  ret void
}

define void @main(ptr %kind) {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 1, ptr @code, ptr %kind)
  ret void
}
