// Function-local statics are initialised once in the program, not once for each rank; reference
// counts are atomic although no rank has threads.
// RUN: clang++-22 -O0 -fpass-plugin=%plugin -mllvm -okl-target=mpi -S -emit-llvm %s -o %t.ll
// RUN: FileCheck %s < %t.ll

int f();
extern "C" char __libc_single_threaded;

// CHECK:       @okl.many_threads = private constant i8 0
// CHECK-LABEL: define {{.*}}@_Z1gv.mpi()
// CHECK:         load atomic i8, ptr @_ZGVZ1gvE1x acquire
// CHECK:         call i32 @okl_mpi_guard_acquire(ptr @_ZGVZ1gvE1x)
// CHECK:         call void @okl_mpi_guard_release(ptr @_ZGVZ1gvE1x)
// CHECK:         load i8, ptr @okl.many_threads
// CHECK-NOT:     __cxa_guard
// CHECK:         ret i32
int g() {
  static int x = f();
  return x + __libc_single_threaded;
}
