// What is declared of loop chains against what their loops do: proved, found, trusted.
// RUN: clang-22 -O0 -fopenmp -g -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-chains>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: clang-22 -O2 -fopenmp -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-chains>' -disable-output %t.ll 2>&1 | FileCheck %s
void __okl_omplc_chain(const char *, ...);
void __okl_omplc_end(void);
void __okl_omplc_for(const char *, ...);
void __okl_omplc_next(void);
double sqrt(double);

#define CHAIN(MORE) __okl_omplc_chain("\"a.c\" @7:9 loopchain schedule()" MORE)
#define END __okl_omplc_end()
#define FOR(TEXT, ...) __okl_omplc_for("\"a.c\" @8:9 for " TEXT, __VA_ARGS__)
#define NEXT __okl_omplc_next()

// CHECK: loop chain at {{.*}}: 2 loops
// CHECK: nest 0: domain 1:n - 2: proved
// CHECK-NEXT: nest 0: domain 1:n - 2: proved
// CHECK-NEXT: nest 1: domain 1:n - 3: proved
// CHECK-NEXT: nest 1: domain 1:n - 3: proved
// CHECK-NEXT: nest 0: writes A{(i,j)}: proved
// CHECK-NEXT: nest 0: reads B{(i-1,j)}: proved
// CHECK-NEXT: nest 0: reads B{(i,j)}: proved
// CHECK-NEXT: nest 0: reads B{(i+1,j)}: proved
// CHECK-NEXT: nest 0: reads B{(i,j-1)}: proved
// CHECK-NEXT: nest 0: reads B{(i,j+1)}: proved
// CHECK-NEXT: nest 1: writes B{(k,l)}: proved
// CHECK-NEXT: nest 1: reads A{(k,l)}: proved
// CHECK-NEXT: nest 1: reads A{(k,l+1)}: proved
// CHECK-NEXT: parameters %{{[0-9]+}}, of the schedule []
// CHECK-NEXT: nest 0: 1:p0, 1:p0
// CHECK-NEXT: nest 1: 1:p0-1, 1:p0-1
// CHECK-NOT: trusted
void jacobi(long n, double *restrict A, double *restrict B) {
  CHAIN("");
  FOR("domain($0:$1,$2:$3) with(i,j) write A{(i,j)} read B{(i-1,j),(i,j),(i+1,j),(i,j-1),(i,j+1)}", 1L, n - 2, 1L, n - 2);
  for (int i = 1; i <= n - 2; i++)
    for (int j = 1; j < n - 1; j++)
      A[i * n + j] = 0.2 * (B[i * n + j] + B[(i - 1) * n + j] + B[(i + 1) * n + j] + B[i * n + j - 1] + B[i * n + j + 1]);
  NEXT;
  FOR("domain($0:$1,$2:$3) with(k,l) write B{(k,l)} read A{(k,l),(k,l+1)}", 1L, n - 3, 1L, n - 3);
  for (int i = 1; i <= n - 3; i++)
    for (int j = 1; j < n - 2; j++)
      B[i * n + j] = sqrt(A[i * n + j] + A[i * n + j + 1]);
  NEXT;
  END;
}

static double X[100][100], Y[100][100];

// Arrays with sizes, an accumulator, a temporary of each iteration, and what is not declared and harmless.
// CHECK: loop chain at {{.*}}: 3 loops
// CHECK: nest 0: writes X{(i,j)}: proved
// CHECK-NEXT: nest 0: reads Y{(i,j)}: proved
// CHECK-NEXT: nest 1: reads X{(i,j)}: proved
// A sum whose parts the programmer has not said to come in any order.
// CHECK: nest 1: reads sum{()}: found
// CHECK: nest 1: writes sum{()}: found
// CHECK: nest 2: combines something with sum{()}: found
// CHECK-NOT: trusted
double arrays(const double *restrict w) {
  double sum = 0, t;
  CHAIN("");
  FOR("domain(0:99,0:99) with(i,j) write X{(i,j)} read Y{(i,j)}", 0L);
  for (int i = 0; i < 100; i++)
    for (int j = 0; j < 100; j++) {
      t = Y[i][j] * w[3];
      X[i][j] = t * t;
    }
  NEXT;
  FOR("domain(0:98,0:99) with(i,j) read X{(i,j)}", 0L);
  for (int i = 0; i < 99; i++)
    for (int j = 0; j < 100; j++)
      sum += X[i][j];
  NEXT;
  FOR("domain(0:98,0:99) with(i,j) read X{(i,j)} omp parallel for reduction(+:sum)", 0L);
  for (int i = 0; i < 99; i++)
    for (int j = 0; j < 100; j++)
      sum += X[i][j];
  NEXT;
  END;
  return sum;
}

// Nothing is declared.
// CHECK: loop chain at {{.*}}: 2 loops
// CHECK: nest 0: reads b{(i0)}: found
// CHECK-NEXT: nest 0: writes a{(i0)}: found
// CHECK-NEXT: nest 1: reads a{(i0-1)}: found
// CHECK-NEXT: nest 1: writes b{(i0)}: found
// CHECK-NOT: trusted
void derived(int n, double *restrict a, double *restrict b) {
  CHAIN("");
  FOR("domain($0:$1)", 1L, (long)(n - 1));
  for (int i = 1; i < n; i++)
    a[i] = b[i];
  NEXT;
  FOR("domain($0:$1)", 1L, (long)(n - 1));
  for (int i = 1; i < n; i++)
    b[i] = a[i - 1];
  NEXT;
  END;
}

// Pointers to rows.
// CHECK: loop chain at {{.*}}: 1 loops
// CHECK: nest 0: writes P{(i,j)}: proved
// CHECK-NEXT: nest 0: reads Q{(i+1,j)}: proved
// CHECK: P and Q must not overlap
// CHECK: trusted at {{.*}}: it is trusted that elements of P with different numbers are different ones
// CHECK: trusted at {{.*}}: it is trusted that these have no memory in common: P and Q, P and q, P and p
// CHECK: trusted at {{.*}}: it is trusted that the loops do not write the pointers and numbers that say what they access
void rows(int n, double **p, double **q) {
  CHAIN("");
  FOR("domain(0:$1,0:$1) with(i,j) write P{(i,j)} read Q{(i+1,j)}", 1L, (long)(n - 1));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      p[i][j] = q[i + 1][j];
  NEXT;
  END;
}

// What is computed in a way that is not understood is trusted.
// CHECK: loop chain at {{.*}}: 1 loops
// CHECK: nest 0: writes A{(i)}: trusted
// CHECK: trusted at a.c:8: it is trusted that an iteration writes A{(i)}: where that is is not understood
void indirect(int n, double *a, const int *map) {
  CHAIN("");
  FOR("domain(0:$1) with(i) @8:30 write A{(i)}", 1L, (long)(n - 1));
  for (int i = 0; i < n; i++)
    a[map[i]] = i;
  NEXT;
  END;
}

// Two names of one object are one space; parts of a struct are apart.
struct point { double x, y; };
// CHECK: loop chain at {{.*}}: 2 loops
// CHECK: nest 0: writes X{(i)}: proved
// CHECK-NEXT: nest 0: reads Y{(i)}: proved
// CHECK-NEXT: nest 1: writes Y{(i)}: proved
// CHECK-NEXT: nest 1: reads X{(i-1)}: proved
// CHECK-NOT: trusted
void parts(long n, struct point *p) {
  CHAIN("");
  FOR("domain(1:$0) with(i) write X{(i)} read Y{(i)}", n - 1);
  for (long i = 1; i < n; i++)
    p[i].x = p[i].y;
  NEXT;
  FOR("domain(1:$0) with(i) write Y{(i)} read X{(i-1)}", n - 1);
  for (long i = 1; i < n; i++)
    p[i].y = p[i - 1].x;
  NEXT;
  END;
}

// In a region, whose variables are its parameters; a value that goes from an iteration to another one.
// CHECK: loop chain at {{.*}}: 1 loops
// CHECK: nest 0: domain 0:n - 1: proved
// CHECK: nest 0: writes A{(i)}: proved
// CHECK-NEXT: nest 0: reads B{(i)}: proved
// CHECK-NEXT: nest 0: reads w{()}: found
// CHECK-NEXT: nest 0: writes w{()}: found
void carries(int n, double *restrict a, double *restrict b) {
#pragma omp parallel
  {
    double w = 0, t;
    CHAIN("");
    FOR("domain(0:$0) with(i) write A{(i)} read B{(i)}", (long)(n - 1));
    for (int i = 0; i < n; i++) {
      t = b[i];
      a[i] = w + t;
      w = t;
    }
    NEXT;
    END;
  }
}

// What is said to be local, and is read behind the chain; a schedule's values.
// CHECK: loop chain at {{.*}}: 1 loops
// CHECK: parameters %{{[0-9]+}}, %{{[0-9]+}}, of the schedule [0]
// CHECK-NEXT: nest 0: 0:p1
// CHECK: doubtful at a.c:7: T is said to be local to this loop chain, and may be read behind it (line [[# @LINE + 8]])
double local(long n, long size, double *restrict t) {
  __okl_omplc_chain("\"a.c\" @7:9 loopchain schedule(tile(($0), serial, serial)) local(@7:40 T)", size);
  FOR("domain(0:$0) with(i) write T{(i)}", n - 1);
  for (long i = 0; i < n; i++)
    t[i] = i;
  NEXT;
  END;
  return t[3];
}

// The least and the largest of numbers with fewer bits than they are compared with.
// CHECK: loop chain at {{.*}}: 1 loops
// CHECK-DAG: nest 0: combines something with low{()}: found
// CHECK-DAG: nest 0: combines something with high{()}: found
// CHECK-DAG: nest 0: combines something with far{()}: found
// CHECK-DAG: nest 0: reads cut{()}: found
int narrow(long n, const int *class) {
  short low = 1000, far = 1000, cut = 1000;
  unsigned char high = 0;
  CHAIN("");
  FOR("domain(0:$0)", n - 1);
  for (long i = 0; i < n; i++) {
    short one = class[i];
    if (one < low)
      low = one;
    if ((short)(class[i] - 7) < far)
      far = (short)(class[i] - 7);
    if ((unsigned char)class[i] > high)
      high = (unsigned char)class[i];
    // What loses bits when it is kept is not the least.
    if (class[i] < cut)
      cut = class[i];
  }
  NEXT;
  END;
  return low + high + far + cut;
}
