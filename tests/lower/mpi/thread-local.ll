; Uses of a thread_local variable without the intrinsic, in constant expressions and in phis.
; RUN: opt-22 -load-pass-plugin=%plugin -passes='okl-lower<mpi>,verify' -S %s | FileCheck %s
@t = thread_local global [4 x i32] zeroinitializer
@other = global i32 0

; CHECK-LABEL: define internal i32 @direct.mpi(
; CHECK:         %[[T:.*]] = load ptr, ptr @okl.tp.t
; CHECK:         load i32, ptr %[[T]]
define i32 @direct() {
  %v = load i32, ptr @t
  ret i32 %v
}

; CHECK-LABEL: define internal i32 @expression.mpi(
; CHECK:         %[[T:.*]] = load ptr, ptr @okl.tp.t
; CHECK:         %[[E:.*]] = getelementptr {{.*}}ptr %[[T]], i64 8
; CHECK:         load i32, ptr %[[E]]
define i32 @expression() {
  %v = load i32, ptr getelementptr inbounds (i8, ptr @t, i64 8)
  ret i32 %v
}

; CHECK-LABEL: define internal ptr @chosen.mpi(
; CHECK:       yes:
; CHECK-NEXT:    %[[T:.*]] = load ptr, ptr @okl.tp.t
; CHECK-NEXT:    br label %end
; CHECK:         phi ptr [ %[[T]], %yes ], [ @other, %no ]
define ptr @chosen(i1 %c) {
  br i1 %c, label %yes, label %no
yes:
  br label %end
no:
  br label %end
end:
  %p = phi ptr [ @t, %yes ], [ @other, %no ]
  ret ptr %p
}

; CHECK-LABEL: define internal ptr @switched.mpi(
; CHECK:         %[[T:.*]] = load ptr, ptr @okl.tp.t
; CHECK-NEXT:    switch
; CHECK:         phi ptr [ %[[T]], %0 ], [ %[[T]], %0 ]
define ptr @switched(i32 %c) {
  switch i32 %c, label %out [ i32 1, label %end  i32 2, label %end ]
end:
  %p = phi ptr [ @t, %0 ], [ @t, %0 ]
  ret ptr %p
out:
  ret ptr null
}
