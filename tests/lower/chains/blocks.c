// Orders of loop chains in which rows of loops that are one run in parallel: in blocks, what is needed across whose edges runs first, and
// in tiles that overlap. How many there are is asked where threads are to share them.
// RUN: clang-22 -O2 -fopenmp -gline-tables-only -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='okl-lower<cpu>,verify' -S %t.ll -o - 2>/dev/null | FileCheck %s
// RUN: opt-22 -load-pass-plugin=%plugin -passes='okl-lower<cuda>,verify' -S %t.ll -o - 2>/dev/null | FileCheck --check-prefix=DEVICE %s
// RUN: clang-22 -O2 -fopenmp -gline-tables-only -fpass-plugin=%plugin -mllvm -okl-target=cpu -Rpass=okl -c %s -o %t.o 2>&1 | FileCheck --check-prefix=TOLD %s
// RUN: clang-22 -O2 -gline-tables-only -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='okl-lower<cpu>,verify' -S %t.ll -o - 2>/dev/null | FileCheck --check-prefix=ALONE %s
void __okl_omplc_chain(const char *, ...);
void __okl_omplc_end(void);
void __okl_omplc_for(const char *, ...);
void __okl_omplc_next(void);

#define CHAIN(SCHEDULE, LOCAL) __okl_omplc_chain("\"a.c\" @7:9 loopchain schedule(" SCHEDULE ")" LOCAL)
#define END __okl_omplc_end()
#define FOR(TEXT, ...) __okl_omplc_for("\"a.c\" @8:9 for domain(1:$0, 1:$1) with(i, j) " TEXT, __VA_ARGS__)
#define NEXT __okl_omplc_next()

// DEVICE-NOT: omp_get_max_threads
// ALONE-NOT: omp_get_max_threads
// ALONE-NOT: __kmpc_fork_call

// Two regions: what is at edges, and blocks, which keep rows of what is temporary. Where there is little of it the same runs without,
// which is asked in front.
// CHECK-LABEL: define {{.*}}@sweeps(
// CHECK-DAG: call i32 @omp_in_parallel()
// CHECK-DAG: call i32 @omp_get_max_threads()
// CHECK: icmp sge i64 153,
// CHECK: icmp sge i64 98304,
// CHECK: icmp sge i64 65536,
// CHECK: call i32 @omp_in_parallel()
// CHECK: call {{.*}}@__kmpc_fork_call(
// CHECK: call {{.*}}@__kmpc_fork_call(
// CHECK-NOT: @__kmpc_fork_call(
// CHECK: {{^}}}
// DEVICE-NOT: icmp sge i64 153,
// TOLD: A shrinks to (3,*), for each thread
// TOLD: where a row has at most 153 elements, and its loops have at most 65536 iterations, or 98304 where it has one thread, the loop chain runs row by row on one thread, with temporary spaces as they are
void sweeps(long n, double (*restrict A)[1000], double (*restrict B)[1000]) {
  CHAIN("@7:20 auto", " local(@7:30 A)");
  {
    FOR("write A{(i,j)} read B{(i-1,j),(i+1,j)}", n, n);
    for (long i = 1; i <= n; i++)
      for (long j = 1; j <= n; j++)
        A[i][j] = B[i - 1][j] + B[i + 1][j];
    NEXT;
    FOR("write B{(i,j)} read A{(i-1,j),(i+1,j)}", n, n);
    for (long i = 1; i <= n; i++)
      for (long j = 1; j <= n; j++)
        B[i][j] = A[i - 1][j] + A[i + 1][j];
    NEXT;
  }
  END;
}

// One region: each tile computes again the row that it needs of the next one.
// CHECK-LABEL: define {{.*}}@faces(
// CHECK: call {{.*}}@__kmpc_fork_call(
// CHECK-NOT: @__kmpc_fork_call(
// CHECK: {{^}}}
// TOLD: A shrinks to (2,*), for each thread
void faces(long n, double (*restrict A)[1000], const double (*restrict B)[1000], double (*restrict C)[1000]) {
  CHAIN("@7:20 fuse((0),(1)), @7:40 tile((16), @7:50 parallel, @7:60 serial, overlap)", " local(@7:80 A)");
  {
    FOR("write A{(i,j)} read B{(i-1,j),(i,j)}", n + 1, n);
    for (long i = 1; i <= n + 1; i++)
      for (long j = 1; j <= n; j++)
        A[i][j] = B[i - 1][j] * B[i][j];
    NEXT;
    FOR("write C{(i,j)} read A{(i,j),(i+1,j)}", n, n);
    for (long i = 1; i <= n; i++)
      for (long j = 1; j <= n; j++)
        C[i][j] = A[i][j] - A[i + 1][j];
    NEXT;
  }
  END;
}

// Innermost loops that depend on nothing of theirs are said to be so.
// CHECK: !{!"llvm.loop.parallel_accesses", !{{[0-9]+}}}
