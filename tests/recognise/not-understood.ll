; A fork that is not a plain call of a known body is refused.
; RUN: not clang-22 -fpass-plugin=%plugin -c %s -o %t.o 2>&1 | FileCheck %s

; CHECK: error: {{.*}}in function taken {{.*}}okl: this use of __kmpc_fork_call is not understood: its address is taken
; CHECK: error: {{.*}}in function elsewhere {{.*}}okl: this use of __kmpc_fork_call is not understood: the body is not defined in this module
; CHECK: error: {{.*}}in function unknown {{.*}}okl: this use of __kmpc_fork_call is not understood: the region is not a function of this module
; CHECK: error: {{.*}}in function too_many {{.*}}okl: this use of __kmpc_fork_call is not understood: it passes more values than the region takes

declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
declare void @declared(ptr, ptr)
declare void @use(ptr)

define void @taken() {
  call void @use(ptr @__kmpc_fork_call)
  ret void
}

define void @elsewhere() {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 0, ptr @declared)
  ret void
}

define void @unknown(ptr %body) {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 0, ptr %body)
  ret void
}

define void @too_many() {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 1, ptr @body, i64 1)
  ret void
}

define internal void @body(ptr %gtid, ptr %btid) {
  ret void
}
