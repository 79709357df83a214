// An update of one object is one instruction, or a loop around one; where anything else is atomic, all of the file is under
// a lock; what no other thread sees is left alone.
// RUN: clang++-22 -std=c++17 -O0 -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck --implicit-check-not='call void @__okl_' --implicit-check-not=__kmpc_critical %s
// RUN: clang++-22 -std=c++17 -O2 -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck --check-prefix=FAST --implicit-check-not=__kmpc_critical %s
// RUN: clang++-22 -std=c++17 -O0 -DBLOCK -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck --check-prefix=LOCK --implicit-check-not=atomicrmw --implicit-check-not=cmpxchg %s
// RUN: clang++-22 -std=c++17 -O2 -DBLOCK -Rpass-missed=okl -fpass-plugin=%plugin -c %s -o %t.o 2>&1 | FileCheck --check-prefix=TOLD --implicit-check-not=remark: %s
#include "okl.h"

// LOCK: @.gomp_critical_user_okl.atomic.var = common global [8 x i32] zeroinitializer, align 8

struct Fields {
  short narrow;
  double wide;
} __attribute__((aligned(8)));

// A function of a kernel's, too.
// CHECK-LABEL: define dso_local void @helper(
// CHECK:         atomicrmw add ptr {{.*}}, i32 {{.*}} monotonic, align 4
// CHECK:         ret void
// LOCK-LABEL:  define dso_local void @helper(
// LOCK:          call void @__kmpc_critical(ptr @okl.ident.2, i32 {{.*}}, ptr @.gomp_critical_user_okl.atomic.var)
// LOCK-NEXT:     load
// LOCK:          store
// LOCK-NEXT:     call i32 @__kmpc_global_thread_num
// LOCK-NEXT:     call void @__kmpc_end_critical(ptr @okl.ident.2, i32 {{.*}}, ptr @.gomp_critical_user_okl.atomic.var)
// LOCK-NEXT:     ret void
extern "C" void helper(int *a, int by) { ATOMIC(a[by] += by); }

// CHECK-LABEL: define internal void @forms.omp_outlined(
// CHECK:         atomicrmw sub ptr {{.*}}, i32 %{{.*}} monotonic, align 4
// CHECK:         atomicrmw add ptr {{.*}}, i32 1 monotonic, align 4
// CHECK:         atomicrmw and ptr
// CHECK:         atomicrmw or ptr
// CHECK:         atomicrmw xor ptr
// CHECK:         atomicrmw xchg ptr {{.*}}, i32 7 monotonic, align 4
// CHECK:         atomicrmw fadd ptr {{.*}}, float %{{.*}} monotonic, align 4
// CHECK:         atomicrmw fsub ptr {{.*}}, double %{{.*}} monotonic, align 8
// CHECK:         load atomic i16, ptr {{.*}} monotonic, align 8
// CHECK:         cmpxchg ptr {{.*}}, i16
// CHECK:         load atomic i32, ptr {{.*}} monotonic, align 4
// CHECK:         [[OLD:%.*]] = phi i32
// CHECK-NEXT:    [[NEW:%.*]] = mul nsw i32 [[OLD]], 3
// CHECK-NEXT:    cmpxchg ptr {{.*}}, i32 [[OLD]], i32 [[NEW]] seq_cst seq_cst, align 4
// CHECK:         cmpxchg ptr
// CHECK-NEXT:    extractvalue
// CHECK:         load atomic i32, ptr {{.*}} monotonic
// CHECK-NOT:     atomic
// CHECK:         ret void
KERNEL void forms(int n, int *a, float *f, Fields *fields) {
  for (OUTER int o = 0; o < n; ++o) {
    SHARED int mine[4];
    for (INNER int i = 0; i < 4; ++i) {
      int old;
      ATOMIC(a[0] -= i);
      ATOMIC(old = a[1]++);
      ATOMIC(a[2] &= old);
      ATOMIC(a[3] |= i);
      ATOMIC(a[4] ^= i);
      ATOMIC(a[i] = 7);
      ATOMIC(f[i] += i);
      ATOMIC(fields->wide -= o);
      ATOMIC(fields->narrow += 1);
      ATOMIC(a[6] = a[6] * 3);
      ATOMIC(a[8] = 5 - a[8]);
      ATOMIC(old = a[7]);
      ATOMIC(mine[i] += old);
      a[o] = mine[i];
    }
  }
}

// FAST-LABEL: define dso_local void @histogram(
// FAST:       define internal void @histogram.omp_outlined(
// FAST:         atomicrmw add ptr {{.*}}, i32 1 monotonic
KERNEL void histogram(int n, const int *a, int *counts) {
  for (OUTER int o = 0; o < n; o += 64)
    for (INNER int i = 0; i < 64; ++i)
      ATOMIC(counts[a[o + i]]++);
}

#ifdef BLOCK
int least(const int &, const int &);
// LOCK-LABEL: define internal void @most.omp_outlined(
// LOCK:         call void @__kmpc_critical(
// LOCK:         br i1
// LOCK:         call void @__kmpc_end_critical(
// LOCK:         call void @__kmpc_critical(
// LOCK:         {{call|invoke}} noundef i32 @_Z5leastRKiS0_(
// LOCK:         call void @__kmpc_end_critical(
KERNEL void most(int n, const int *a, int *m) {
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 4; ++i) {
      // TOLD: atomics.cpp:[[# @LINE + 1]]:{{.*}} remark: this @atomic code runs under a lock, and with it all @atomic code of the file: it is more than one update of one object [
      __okl_atomic_begin(1);
      if (*m < a[o])
        *m = a[o];
      __okl_atomic_end();
      // TOLD: atomics.cpp:[[# @LINE + 1]]:{{.*}} remark: this @atomic code runs under a lock
      ATOMIC(m[1] = least(m[1], 3));
    }
}
#endif
