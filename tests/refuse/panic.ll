; A mistake of the plugin is an error with exit status 1, although the passes that follow meet what
; it left behind. The pass okl-panic makes one.
; RUN: opt-22 -load-pass-plugin=%plugin -passes='okl-panic,default<O2>' -S %s -o %t.ll 2> %t.err; test $? = 1
; RUN: FileCheck %s < %t.err
; CHECK: error: {{.*}}okl: internal error: asked to panic ({{.*}}pipeline.rs:{{[0-9]+}}
define i32 @f(i32 %x) {
  ret i32 %x
}
