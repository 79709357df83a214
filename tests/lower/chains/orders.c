// What loop chains become: loops in the order that the schedule asks for, a region where threads share them, and nothing of
// the calls that mark them.
// RUN: clang-22 -O2 -fopenmp -gline-tables-only -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='okl-lower<cpu>,verify' -S %t.ll -o - 2>/dev/null | FileCheck %s
// RUN: clang-22 -O0 -g -fopenmp -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='okl-lower<cpu>,verify' -S %t.ll -o - 2>/dev/null | FileCheck %s
// RUN: clang-22 -O2 -fopenmp -gline-tables-only -fpass-plugin=%plugin -mllvm -okl-target=cpu -Rpass=okl -Rpass-missed=okl -c %s -o %t.o 2>&1 | FileCheck --check-prefix=TOLD %s
// RUN: clang-22 -O2 -gline-tables-only -fpass-plugin=%plugin -mllvm -okl-target=cpu -Rpass=okl -Rpass-missed=okl -c %s -o %t.o 2>&1 | FileCheck --check-prefix=ALONE %s
void __okl_omplc_chain(const char *, ...);
void __okl_omplc_end(void);
void __okl_omplc_for(const char *, ...);
void __okl_omplc_next(void);

#define CHAIN(SCHEDULE) __okl_omplc_chain("\"a.c\" @7:9 loopchain schedule(" SCHEDULE ")")
#define END __okl_omplc_end()
#define FOR(TEXT, ...) __okl_omplc_for("\"a.c\" @8:9 for domain(1:$0) with(i) " TEXT, __VA_ARGS__)
#define NEXT __okl_omplc_next()

// CHECK-NOT: call {{.*}}__okl_omplc
// CHECK-LABEL: define {{.*}}@shared(
// CHECK: call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr @okl.ident.2, {{.*}}@shared.omp_outlined
// CHECK: call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr @okl.ident.2, {{.*}}@shared.omp_outlined
// CHECK-LABEL: define {{.*}}@one(
// CHECK-NOT: __kmpc_fork_call
// CHECK: define
// CHECK-LABEL: define internal {{.*}}@shared.omp_outlined
// CHECK: call void @__kmpc_for_static_init_8(
// CHECK: fmul
// CHECK: call void @__kmpc_for_static_fini(
void shared(int n, double *restrict A, double *restrict B) {
  // TOLD: orders.c:[[# @LINE + 2]]:{{.*}}: the loop chain runs as scheduled
  // ALONE: orders.c:[[# @LINE + 1]]:{{.*}}: the loop chain runs as scheduled, but on one thread: the file is not compiled with -fopenmp
  CHAIN("@7:20 parallel");
  {
    FOR("write A{(i)} read B{(i)}", (long)n - 2);
    for (int i = 1; i < n - 1; i++)
      A[i] = B[i] * 3;
    NEXT;
    FOR("read A{(i)} write B{(i)}", (long)n - 2);
    for (int i = 1; i <= n - 2; i++)
      B[i] = A[i] * 5;
    NEXT;
  }
  END;
}

// One loop, in which both are run.
void one(int n, double *restrict A, double *restrict B) {
  CHAIN("@7:20 fuse");
  {
    FOR("write A{(i)} read B{(i)}", (long)n - 2);
    for (int i = 1; i < n - 1; i++)
      A[i] = B[i] * 7;
    NEXT;
    FOR("read A{(i)} write B{(i)}", (long)n - 2);
    for (int i = 1; i < n - 1; i++)
      B[i] = A[i] * 9;
    NEXT;
  }
  END;
}

void in_region(int n, double *restrict A, double *restrict B) {
#pragma omp parallel
  {
    // TOLD: orders.c:[[# @LINE + 1]]:{{.*}}: the loop chain runs as scheduled, but on one thread: each thread of the region that it is in runs all of it
    CHAIN("@7:20 parallel");
    {
      FOR("read B{(i)} write A{(i)}", (long)n - 2);
      for (int i = 1; i < n - 1; i++)
        A[i] = B[i] * 2;
      NEXT;
    }
    END;
  }
}
