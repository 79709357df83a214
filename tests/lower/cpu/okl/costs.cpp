// A kernel says when it begins and ends, and what its threads run what that accesses: `libokl_cpu.so` knows what it costs.
// On ranks regions are what is measured.
//
// RUN: clang++-22 -std=c++17 -O0 -Xclang -disable-O0-optnone -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck --check-prefixes=CHECK,PLAIN %s
// RUN: clang++-22 -std=c++17 -O2 -g -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck --check-prefixes=CHECK,SIMPLE %s
// RUN: clang++-22 -std=c++17 -O2 -fopenmp -mllvm -okl-target=mpi -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck --check-prefix=RANKS %s
// RUN: clang++-22 -std=c++17 -O2 -emit-llvm -c -Xclang -disable-llvm-passes %s -o %t.bc
// Looked at once more, they say nothing more.
// RUN: opt-22 -load-pass-plugin=%plugin -passes='okl-lower,default<O1>,okl-costs' -S %t.bc -o - | FileCheck --check-prefixes=CHECK,SIMPLE %s

#define KERNEL [[clang::annotate("okl.kernel")]]
#define OUTER [[clang::annotate("okl.outer")]]
#define INNER [[clang::annotate("okl.inner")]]

// CHECK-DAG: @okl.kernel._Z5twiceiPf = internal global { ptr, ptr, i64 } { ptr @[[NAME:.*]], ptr @[[PLACE:.*]], i64 0 }, align 8
// CHECK-DAG: @[[NAME]] = private unnamed_addr constant {{.*}} c"twice{{.*}}\00"
// CHECK-DAG: @[[PLACE]] = private unnamed_addr constant {{.*}}costs.cpp:[[# @LINE + 7]]\00"
// RANKS-NOT: okl_cpu

// CHECK-LABEL: define{{.*}} void @_Z5twiceiPf(
// PLAIN:       alloca
// CHECK:       %[[BEGIN:.*]] = {{(tail )?}}call i64 @okl_cpu_begin_kernel_v1(ptr {{(nonnull )?}}@okl.kernel._Z5twiceiPf)
// PLAIN-NOT:   alloca
KERNEL void twice(int n, float *a) {
  if (n == 7) return;
  for (OUTER int i = 0; i < n; ++i)
    for (INNER int j = 0; j < 4; ++j) a[4 * i + j] *= 2;
  // CHECK:      call void @okl_cpu_end_kernel_v1(ptr {{(nonnull )?}}@okl.kernel._Z5twiceiPf, i64 %[[BEGIN]])
  // CHECK-NEXT: ret void
}

// CHECK-LABEL: define internal void @_Z5twiceiPf.omp_outlined(
// PLAIN-NOT:   okl_cpu
// SIMPLE:      call void @__kmpc_for_static_init_8(
// SIMPLE:      call void @okl_cpu_accesses_v1(ptr nonnull @okl.kernel._Z5twiceiPf, ptr nonnull @okl.sections{{.*}}, ptr nonnull %{{.*}})
// SIMPLE-NOT:  okl_cpu
// CHECK:       ret void

// What is not known is said once, and first.
// SIMPLE-LABEL: define internal void @_Z7unknowniPfPFvvE.omp_outlined(
// SIMPLE:       call void @okl_cpu_accesses_v1(ptr {{(nonnull )?}}@okl.kernel._Z7unknowniPfPFvvE, ptr null, ptr null)
// SIMPLE-NOT:   okl_cpu
// SIMPLE:       ret void
KERNEL void unknown(int n, float *a, void (*called)()) {
  for (OUTER int i = 0; i < n; ++i)
    for (INNER int j = 0; j < 4; ++j) {
      a[4 * i + j] *= 2;
      called();
    }
}
