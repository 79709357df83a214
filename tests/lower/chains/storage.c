// Temporary spaces of loop chains: what of them is enough is in a buffer, on the stack where it is small for sure, and else in
// memory of the thread's own; what is told of them.
// RUN: clang-22 -O2 -fopenmp -gline-tables-only -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='okl-lower<cpu>,verify' -S %t.ll -o - 2>/dev/null | FileCheck --check-prefix=EARLY %s
// RUN: opt-22 -load-pass-plugin=%plugin -passes='okl-lower<cpu>,default<O2>,verify' -S %t.ll -o - 2>/dev/null | FileCheck %s
// RUN: clang-22 -O0 -g -fopenmp -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='okl-lower<cpu>,verify' -S %t.ll -o - 2>/dev/null | FileCheck --check-prefix=EARLY %s
// RUN: clang-22 -O2 -fopenmp -gline-tables-only -fpass-plugin=%plugin -mllvm -okl-target=cpu -Rpass=okl -Rpass-missed=okl -c %s -o %t.o 2>&1 | FileCheck --check-prefix=TOLD %s
// RUN: clang-22 -O2 -fopenmp -gline-tables-only -fpass-plugin=%plugin -mllvm -okl-target=mpi -c %s -o %t.o 2>&1 | FileCheck --check-prefix=RANKS --allow-empty %s
// RUN: clang-22 -O2 -fopenmp -gline-tables-only -fpass-plugin=%plugin -mllvm -okl-target=cuda -Rpass=okl -Rpass-missed=okl -c %s -o %t.o 2>&1 | FileCheck --check-prefix=DEVICE %s
void __okl_omplc_chain(const char *, ...);
void __okl_omplc_end(void);
void __okl_omplc_for(const char *, ...);
void __okl_omplc_next(void);

#define CHAIN(SCHEDULE, LOCAL) __okl_omplc_chain("\"a.c\" @7:9 loopchain schedule(" SCHEDULE ") local(" LOCAL ")")
#define END __okl_omplc_end()
#define FOR1(FROM, TEXT, ...) __okl_omplc_for("\"a.c\" @8:9 for domain(" FROM ":$0) with(i) " TEXT, __VA_ARGS__)
#define FOR2(FROM, TEXT, ...) __okl_omplc_for("\"a.c\" @8:9 for domain(" FROM ":$0, " FROM ":$1) with(i, j) " TEXT, __VA_ARGS__)
#define NEXT __okl_omplc_next()

// What threads take is their own, whichever process they are in.
// RANKS-NOT: runs on rank 0 alone
// DEVICE: A does not shrink: its loops may run on a device

// EARLY: @okl.chains.memory = internal thread_local global { ptr, i64 } zeroinitializer

// A row of four is kept; nothing is written to the space, and the inner loops are vectorised.
// CHECK-LABEL: define {{.*}}@rows(
// CHECK: call {{.*}}ptr @okl.chains.take(
// CHECK-NOT: {{[su]}}rem
// CHECK: store <
// CHECK: call {{.*}}void @okl.chains.give(
// EARLY-LABEL: define {{.*}}@rows(
// EARLY: call {{.*}}ptr @okl.chains.take(
// EARLY: call {{.*}}void @okl.chains.give(
// TOLD-DAG: A shrinks to (3,*) [-Rpass=okl]
void rows(long n, const double *restrict B, double (*restrict A)[1000], double (*restrict C)[1000]) {
  CHAIN("@7:20 fuse((0,0),(1,0))", "@7:50 A");
  {
    FOR2("0", "write A{(i,j)} read B{(j)}", n + 1, n + 1);
    for (long i = 0; i <= n + 1; i++)
      for (long j = 0; j <= n + 1; j++)
        A[i][j] = B[j] * i;
    NEXT;
    FOR2("1", "read A{(i-1,j),(i,j),(i+1,j)} write C{(i,j)}", n, n);
    for (long i = 1; i <= n; i++)
      for (long j = 1; j <= n; j++)
        C[i][j] = A[i - 1][j] + A[i][j] + A[i + 1][j];
    NEXT;
  }
  END;
}

// One value at a time is in a register.
// CHECK-LABEL: define {{.*}}@one(
// CHECK-NOT: okl.chains
// CHECK-NOT: alloca
// CHECK: ret void
// TOLD-DAG: S shrinks to (1) [-Rpass=okl]
void one(long n, const double *restrict B, double *restrict S, double *restrict C) {
  CHAIN("@7:20 fuse", "@7:50 S");
  {
    FOR1("1", "write S{(i)} read B{(i)}", n);
    for (long i = 1; i <= n; i++)
      S[i] = B[i] * 7;
    NEXT;
    FOR1("1", "read S{(i)} write C{(i)}", n);
    for (long i = 1; i <= n; i++)
      C[i] = S[i] * S[i];
    NEXT;
  }
  END;
}

// Each thread has its own.
// CHECK-LABEL: define internal {{.*}}@apart.omp_outlined
// CHECK: call {{.*}}ptr @okl.chains.take(
// CHECK: call {{.*}}void @okl.chains.give(
// TOLD-DAG: T shrinks to (1,*), for each thread [-Rpass=okl]
void apart(long n, const double *restrict B, double (*restrict T)[1000], double (*restrict C)[1000]) {
  CHAIN("@7:20 auto", "@7:50 T");
  {
    FOR2("0", "write T{(i,j)} read B{(j)}", n + 1, n + 1);
    for (long i = 0; i <= n + 1; i++)
      for (long j = 0; j <= n + 1; j++)
        T[i][j] = B[j] * i;
    NEXT;
    FOR2("1", "read T{(i,j-1),(i,j+1)} write C{(i,j)}", n, n);
    for (long i = 1; i <= n; i++)
      for (long j = 1; j <= n; j++)
        C[i][j] = T[i][j - 1] * T[i][j + 1];
    NEXT;
  }
  END;
}

// What a loop passes on to the next one in an iteration is in a register.
// CHECK-LABEL: define internal {{.*}}@passed.omp_outlined
// CHECK-NOT: alloca [1 x double]
// CHECK: [[P:%.*]] = fmul <[[VECTOR:.*]]>
// CHECK-NOT: load <
// CHECK: fmul <[[VECTOR]]> [[P]], [[P]]
// EARLY-LABEL: define internal {{.*}}@passed.omp_outlined
// EARLY: alloca [1 x double], align 64
// TOLD-DAG: P shrinks to (1,*), for each thread [-Rpass=okl]
void passed(long n, const double *restrict B, double (*restrict P)[1000], double (*restrict C)[1000]) {
  CHAIN("@7:20 auto", "@7:50 P");
  {
    FOR2("1", "write P{(i,j)} read B{(j)}", n, n);
    for (long i = 1; i <= n; i++)
      for (long j = 1; j <= n; j++)
        P[i][j] = B[j] * i;
    NEXT;
    FOR2("1", "read P{(i,j)} write C{(i,j)}", n, n);
    for (long i = 1; i <= n; i++)
      for (long j = 1; j <= n; j++)
        C[i][j] = P[i][j] * P[i][j];
    NEXT;
  }
  END;
}

// Also where it is asked whether spaces have memory in common: here they have none.
// CHECK-LABEL: define internal {{.*}}@passed_on.omp_outlined
// CHECK-NOT: alloca [1 x double]
// CHECK-NOT: vector.memcheck
// CHECK: [[P:%.*]] = fmul <[[VECTOR:.*]]>
// CHECK-NOT: load <
// CHECK: fmul <[[VECTOR]]> [[P]], [[P]]
void passed_on(long n, const double *B, double (*P)[1000], double (*C)[1000]) {
  CHAIN("@7:20 auto", "@7:50 P");
  {
    FOR2("1", "write P{(i,j)} read B{(j)}", n, n);
    for (long i = 1; i <= n; i++)
      for (long j = 1; j <= n; j++)
        P[i][j] = B[j] * i;
    NEXT;
    FOR2("1", "read P{(i,j)} write C{(i,j)}", n, n);
    for (long i = 1; i <= n; i++)
      for (long j = 1; j <= n; j++)
        C[i][j] = P[i][j] * P[i][j];
    NEXT;
  }
  END;
}

// What was there before is read where it is.
// TOLD-DAG: U shrinks to (3,*) [-Rpass=okl]
void border(long n, double (*restrict B)[1000], double (*restrict U)[1000]) {
  CHAIN("@7:20 fuse((0,0),(1,0))", "@7:50 U");
  {
    FOR2("1", "write U{(i,j)} read B{(i-1,j),(i+1,j)}", n, n);
    for (long i = 1; i <= n; i++)
      for (long j = 1; j <= n; j++)
        U[i][j] = B[i - 1][j] + B[i + 1][j];
    NEXT;
    FOR2("1", "read U{(i-1,j),(i+1,j),(i,j-1),(i,j+1)} write B{(i,j)}", n, n);
    for (long i = 1; i <= n; i++)
      for (long j = 1; j <= n; j++)
        B[i][j] = U[i - 1][j] + U[i + 1][j] + U[i][j - 1] + U[i][j + 1];
    NEXT;
  }
  END;
}

static __attribute__((noinline)) void put(double *place, double value) { *place = value; }

// TOLD-DAG: D does not shrink: a function that an iteration calls accesses it [-Rpass-missed=okl]
// TOLD-DAG: E does not shrink: its loops run as they are written [-Rpass-missed=okl]
// TOLD-DAG: F does not shrink: it is not known that all that is read of it is written before in this chain [-Rpass-missed=okl]
// TOLD-DAG: G does not shrink: threads would have to share it [-Rpass-missed=okl]
// TOLD-DAG: H does not shrink: it is used in loops that do not become one [-Rpass-missed=okl]
#define TWO(NAME, SPACE, SCHEDULE, FIRST, WRITE)                                                                             \
  void NAME(long n, const double *restrict B, double *restrict SPACE, double *restrict C) {                                  \
    CHAIN(SCHEDULE, "@7:50 " #SPACE);                                                                                        \
    {                                                                                                                        \
      FOR1("1", "write " #SPACE "{(i)} read B{(i)}", n);                                                                     \
      for (long i = 1; i <= n; i++)                                                                                          \
        WRITE;                                                                                                               \
      NEXT;                                                                                                                  \
      FOR1("1", FIRST, n);                                                                                                   \
      for (long i = 1; i <= n; i++)                                                                                          \
        C[i] = SPACE[i] * 3;                                                                                                 \
      NEXT;                                                                                                                  \
    }                                                                                                                        \
    END;                                                                                                                     \
  }
TWO(called, D, "@7:20 fuse", "read D{(i)} write C{(i)}", put(&D[i], B[i]))
TWO(written, E, "", "read E{(i)} write C{(i)}", E[i] = B[i])
TWO(perhaps, F, "@7:20 fuse", "read F{(i)} write C{(i)}", if (B[i] > 0) F[i] = B[i])
TWO(parted, H, "@7:20 parallel", "read H{(i)} write C{(i)}", H[i] = B[i])

void fronts(long n, const double *restrict B, double (*restrict G)[1000], double (*restrict C)[1000]) {
  CHAIN("@7:20 fuse, @7:30 wavefront", "@7:50 G");
  {
    FOR2("0", "write G{(i,j)} read B{(j)}", n + 1, n + 1);
    for (long i = 0; i <= n + 1; i++)
      for (long j = 0; j <= n + 1; j++)
        G[i][j] = B[j] * i;
    NEXT;
    FOR2("1", "read G{(i-1,j),(i+1,j),(i,j+1)} write C{(i,j)}", n, n);
    for (long i = 1; i <= n; i++)
      for (long j = 1; j <= n; j++)
        C[i][j] = G[i - 1][j] + G[i + 1][j] + G[i][j + 1];
    NEXT;
  }
  END;
}
