; A captured value that does not fit a slot of 8 bytes.
; RUN: not opt-22 -load-pass-plugin=%plugin -passes=okl-lower -disable-output %s 2>&1 | FileCheck %s
; CHECK: error: {{.*}}okl: a value of 16 bytes cannot be handed to the ranks of a parallel region
declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
define void @f(i128 %wide) {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 1, ptr @body, i128 %wide)
  ret void
}
define internal void @body(ptr %gtid, ptr %btid, i128 %wide) {
  ret void
}
