// C++ thread_local variables keep their wrappers and initialisers; the C++ library's own stay.
// RUN: clang++-22 -O0 -fpass-plugin=%plugin -mllvm -okl-target=mpi -S -emit-llvm %s -o %t.ll
// RUN: FileCheck %s < %t.ll
// RUN: clang++-22 -O2 -fpass-plugin=%plugin -mllvm -okl-target=mpi -c %s -o %t.o

// CHECK-DAG: @okl.tp.dynamic = thread_local externally_initialized global ptr null
// CHECK-DAG: @okl.tp.__tls_guard = internal thread_local externally_initialized global ptr null
// CHECK-DAG: @okl.tp._ZN1SIiE1tE = linkonce_odr thread_local externally_initialized global ptr null, comdat
// CHECK-DAG: @_ZSt15__once_callable = external thread_local global ptr
int f();
thread_local int dynamic = f();
template <class T> struct S {
  static thread_local T t;
};
template <class T> thread_local T S<T>::t = f();

// CHECK-LABEL: define linkonce_odr hidden {{.*}}ptr @_ZTW7dynamic.mpi()
// CHECK:         call void @__tls_init.mpi()
// CHECK:         %[[COPY:.*]] = load ptr, ptr @okl.tp.dynamic
// CHECK:         ret ptr %[[COPY]]
int g() { return dynamic + S<int>::t; }

namespace std {
extern thread_local void *__once_callable;
}
void *library() { return std::__once_callable; }
