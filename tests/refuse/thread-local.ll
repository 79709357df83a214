; The address of a thread_local variable in an initialiser means a different object on each rank.
; RUN: not clang-22 -fpass-plugin=%plugin -mllvm -okl-target=mpi -c %s -o %t.o 2>&1 | FileCheck %s
; CHECK: error: okl: the address of thread_local variable own is in an initialiser
@own = thread_local global i32 0
@table = global [1 x ptr] [ptr @own]
