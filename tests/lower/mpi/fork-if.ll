; The fork with a condition that LLVM's OpenMPIRBuilder makes of an if clause: a team of one where
; the condition is zero. Its last argument is there even if the region takes nothing.
; RUN: opt-22 -load-pass-plugin=%plugin -passes='okl-lower,verify' -S %s | FileCheck %s
; RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-loops>' -disable-output %s 2>&1 | FileCheck --check-prefix=LOOPS %s
; RUN: opt-22 -load-pass-plugin=%plugin -okl-jit -passes='okl-lower<cpu>,okl-embed' -pass-remarks-missed=okl -disable-output %s 2>&1 | FileCheck --check-prefix=JIT %s

; JIT-COUNT-2: region is not compiled once more at run time: how many threads it has depends on a condition
; JIT-NOT:     region

; LOOPS:      parallel region in with_captures
; LOOPS:        team
; LOOPS-NEXT:   one thread unless a condition holds
; LOOPS-NEXT:   capture 0: by reference
; LOOPS:      parallel region in without_captures
; LOOPS-NOT:    capture

declare void @__kmpc_fork_call_if(ptr, i32, ptr, i32, ptr)

; CHECK-LABEL: define void @with_captures(
; CHECK:         %[[ALONE:.*]] = icmp eq i32 %condition, 0
; CHECK:         br i1 %[[ALONE]]
; CHECK:         %[[THREAD:.*]] = call i32 @okl_mpi_kmpc_global_thread_num(ptr null)
; CHECK:         call void @okl_mpi_kmpc_push_num_threads(ptr null, i32 %[[THREAD]], i32 1)
; CHECK:         store ptr %captures
; CHECK:         call void @okl_mpi_fork(ptr @okl.region, ptr %{{.*}}, i64 1)
define void @with_captures(i32 %condition, ptr %captures) {
  call void @__kmpc_fork_call_if(ptr null, i32 1, ptr @body, i32 %condition, ptr %captures)
  ret void
}

; CHECK:         call void @__kmpc_fork_call_if(ptr null, i32 1, ptr @body.plain, i32 %condition, ptr %captures)
; CHECK-LABEL: define void @without_captures(
; CHECK:         call void @okl_mpi_fork(ptr @okl.region{{.*}}, ptr null, i64 0)
define void @without_captures(i32 %condition) {
  call void @__kmpc_fork_call_if(ptr null, i32 0, ptr @empty, i32 %condition, ptr null)
  ret void
}

define internal void @body(ptr %gtid, ptr %btid, ptr %captures) {
  ret void
}

define internal void @empty(ptr %gtid, ptr %btid) {
  ret void
}
