// A call whose function LLVM finds out later, here that of a function handed to a template, stays in its kind: on one
// rank it is inlined as in OpenMP, on several it reaches the version for several.
// RUN: clang++-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi -S -emit-llvm %s -o - | FileCheck %s
static long total;

void add(int i) {
#pragma omp atomic
  total += i;
}
__attribute__((noinline)) void subtract(int i) {
#pragma omp atomic
  total -= i;
}

template <class F> static inline void each(F f) {
  for (int i = 0; i < 100; i++) f(i);
}

void region() {
#pragma omp parallel
  each(add);
#pragma omp parallel
  each(subtract);
}

// CHECK-LABEL: define internal void @_Z6regionv.omp_outlined(
// CHECK-NOT:     okl.plain
// CHECK:         call void @_Z3addi.mpi(
// CHECK-LABEL: define internal void @_Z6regionv.omp_outlined.1(
// CHECK-NOT:     okl.plain
// CHECK:         call void @_Z8subtracti.mpi(
// CHECK-LABEL: define internal void @_Z6regionv.omp_outlined.plain(
// CHECK-NOT:     okl.plain
// CHECK:         atomicrmw add
// CHECK-LABEL: define internal void @_Z6regionv.omp_outlined.1.plain(
// CHECK-NOT:     okl.plain
// CHECK:         call void @_Z8subtracti(
