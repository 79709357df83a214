// What threads combine that share a loop of a chain: as clang writes a reduction, with one lock, and one list for all variables.
// What is combined where no variable of the function or of the file is runs on one thread.
// RUN: clang-22 -O2 -fopenmp -gline-tables-only -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='okl-lower<cpu>,verify' -S %t.ll -o - 2>/dev/null | FileCheck %s
// RUN: clang-22 -O0 -g -fopenmp -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='okl-lower<cpu>,verify' -S %t.ll -o - 2>/dev/null | FileCheck %s
// RUN: clang-22 -O2 -fopenmp -gline-tables-only -fpass-plugin=%plugin -mllvm -okl-target=cpu -Rpass=okl -Rpass-missed=okl -c %s -o %t.o 2>&1 | FileCheck --check-prefix=TOLD %s
void __okl_omplc_chain(const char *, ...);
void __okl_omplc_end(void);
void __okl_omplc_for(const char *, ...);
void __okl_omplc_next(void);

#define CHAIN(SCHEDULE) __okl_omplc_chain("\"a.c\" @7:9 loopchain schedule(" SCHEDULE ")")
#define END __okl_omplc_end()
#define FOR(TEXT, CLAUSES, ...)                                                                                        \
  __okl_omplc_for("\"a.c\" @8:9 for domain(1:$0) with(i) " TEXT " @9:9 omp parallel for" CLAUSES, __VA_ARGS__)
#define NEXT __okl_omplc_next()

// CHECK:       define {{.*}}@sums(
// CHECK:       call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr @okl.ident.2, {{.*}}@sums.omp_outlined
// CHECK:       define internal void @sums.omp.reduction.reduction_func(ptr %[[TO:[0-9]+]], ptr %[[FROM:[0-9]+]])
// CHECK-DAG:   fadd double
// CHECK-DAG:   mul i64
// CHECK:       ret void
// CHECK:       define internal {{.*}}@sums.omp_outlined
// CHECK:       store {{.*}} -0.000000e+00
// CHECK:       call void @__kmpc_for_static_init_8(
// CHECK:       call void @__kmpc_for_static_fini(
// CHECK:       %[[TURN:[0-9]+]] = call i32 @__kmpc_reduce_nowait(ptr @okl.ident.2, i32 %{{[0-9]+}}, i32 2, i64 16, ptr %{{[0-9]+}}, ptr @sums.omp.reduction.reduction_func, ptr @.gomp_critical_user_.reduction.var)
// CHECK-NEXT:  switch i32 %[[TURN]], label %{{[0-9]+}} [
// CHECK-NEXT:    i32 1, label
// CHECK:       call void @__kmpc_end_reduce_nowait(
double sums(int n, double *restrict A, double *restrict B) {
  double sum = 1;
  long product = 3;
  // TOLD: sums.c:[[# @LINE + 1]]:{{.*}}: the loop chain runs as scheduled [-Rpass=okl]
  CHAIN("@7:20 fuse, @7:26 parallel");
  {
    FOR("write A{(i)} read B{(i)}", "", (long)n);
    for (int i = 1; i <= n; i++)
      A[i] = B[i] * 3;
    NEXT;
    FOR("read A{(i)}", " reduction(+:@9:20 sum) reduction(*:@9:20 product)", (long)n);
    for (int i = 1; i <= n; i++) {
      sum += A[i];
      product *= i;
    }
    NEXT;
  }
  END;
  return sum * product;
}

static double outside;
void global(int n, double *restrict A) {
  // TOLD: sums.c:[[# @LINE + 1]]:{{.*}}: the loop chain runs as scheduled [-Rpass=okl]
  CHAIN("@7:20 parallel");
  {
    FOR("read A{(i)}", " reduction(+:@9:20 outside)", (long)n);
    for (int i = 1; i <= n; i++)
      outside += A[i];
    NEXT;
  }
  END;
}

void pointed(int n, double *restrict A, double *restrict sum) {
  // TOLD: sums.c:[[# @LINE + 1]]:{{.*}}: the loop chain runs as scheduled, but on one thread: what its iterations find is combined in one place
  CHAIN("@7:20 parallel");
  {
    FOR("read A{(i)}", " reduction(+:@9:20 sum[0])", (long)n);
    for (int i = 1; i <= n; i++)
      *sum += A[i];
    NEXT;
  }
  END;
}

// Each thread begins with what is there, so that nobody asks for the least of all numbers.
// CHECK:       define internal void @largest.omp.reduction.reduction_func(
// CHECK:       %[[GREATER:[0-9]+]] = fcmp ogt double %[[NEW:[0-9]+]], %[[OLD:[0-9]+]]
// CHECK-NEXT:  select i1 %[[GREATER]], double %[[NEW]], double %[[OLD]]
double largest(int n, double *restrict A) {
  double most = 0;
  // TOLD: sums.c:[[# @LINE + 1]]:{{.*}}: the loop chain runs as scheduled [-Rpass=okl]
  CHAIN("@7:20 parallel");
  {
    FOR("read A{(i)}", " reduction(max:@9:20 most)", (long)n);
    for (int i = 1; i <= n; i++)
      if (A[i] > most)
        most = A[i];
    NEXT;
  }
  END;
  return most;
}
