// Elements of the data spaces of loop chains that are several numbers: what an iteration accesses of one, with a loop inside or
// without, and by which instructions.
// RUN: clang-22 -O0 -fopenmp -g -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-chains>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: clang-22 -O2 -fopenmp -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-chains>' -disable-output %t.ll 2>&1 | FileCheck %s
void __okl_omplc_chain(const char *, ...);
void __okl_omplc_end(void);
void __okl_omplc_for(const char *, ...);
void __okl_omplc_next(void);

#define CHAIN __okl_omplc_chain("\"a.c\" @7:9 loopchain schedule()")
#define END __okl_omplc_end()
#define FOR(TEXT, ...) __okl_omplc_for("\"a.c\" @8:9 for " TEXT, __VA_ARGS__)
#define NEXT __okl_omplc_next()

#define FACE(c, j, i) (((c) * (n + 1L) + (j)) * (n + 1L) + (i))

// Components in planes whose distance is computed, and one of them by itself.
// CHECK: loop chain at {{.*}}: 3 loops
// CHECK: nest 0: writes x{(j,i)}: proved
// CHECK-NEXT: nest 1: reads x{(j,i)}: proved
// CHECK-NEXT: nest 1: writes x{(j,i)}: proved
// CHECK-NEXT: nest 2: reads x{(j,i)}: proved
// CHECK-NEXT: nest 2: reads x{(j,i+1)}: proved
// CHECK-NEXT: nest 2: writes now{(j,i)}: proved
// CHECK-NEXT: nest 2: reads now{(j,i)}: proved
// CHECK: nest 0 line [[# @LINE + 13]]: writes 8 bytes of x{(i0,i1)}, at 0 + 8 * %{{[0-9a-z]+}} of 32
// CHECK-NEXT: nest 1 line [[# @LINE + 17]]: reads 8 bytes of x{(i0,i1)}, at 8 of 32
// CHECK-NEXT: nest 1 line [[# @LINE + 18]]: reads 8 bytes of x{(i0,i1)}, at 0 + 8 * %{{[0-9a-z]+}} of 32
// CHECK-NEXT: nest 1 line [[# @LINE + 17]]: writes 8 bytes of x{(i0,i1)}, at 0 + 8 * %{{[0-9a-z]+}} of 32
// CHECK-NEXT: nest 2 line [[# @LINE + 23]]: reads 8 bytes of x{(i0,i1)}, at 0 + 8 * %{{[0-9a-z]+}} of 32
// CHECK-NEXT: nest 2 line [[# @LINE + 22]]: reads 8 bytes of x{(i0,i1+1)}, at 0 + 8 * %{{[0-9a-z]+}} of 32
// CHECK-NOT: trusted
void planes(int n, double *restrict x, double *restrict now) {
  CHAIN;
  FOR("domain(0:$0,0:$1) with(j,i) write x{(j,i)}", n - 1L, (long)n);
  for (int j = 0; j < n; j++)
    for (int i = 0; i <= n; i++)
      for (int c = 0; c < 4; c++)
        x[FACE(c, j, i)] = c;
  NEXT;
  FOR("domain(0:$0,0:$1) with(j,i) read x{(j,i)} write x{(j,i)}", n - 1L, (long)n);
  for (int j = 0; j < n; j++)
    for (int i = 0; i <= n; i++) {
      double v = x[FACE(1, j, i)];
      for (int c = 0; c < 4; c++)
        x[FACE(c, j, i)] *= v;
    }
  NEXT;
  FOR("domain(0:$0,0:$0) with(j,i) read x{(j,i),(j,i+1)} write now{(j,i)} read now{(j,i)}", n - 1L);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
      for (int c = 0; c < 4; c++)
        now[FACE(c, j, i)] += x[FACE(c, j, i)] - x[FACE(c, j, i + 1)];
  NEXT;
  END;
}

// The same with each component by itself, two of which have no loop.
// CHECK: loop chain at {{.*}}: 2 loops
// CHECK: nest 0: writes x{(i)}: proved
// CHECK-NEXT: nest 1: reads x{(i)}: proved
// CHECK-NEXT: nest 1: writes y{(i)}: proved
// CHECK: writes 8 bytes of x{(i0)}, at 0 of 24
// CHECK-NEXT: writes 8 bytes of x{(i0)}, at 8 of 24
// CHECK-NEXT: writes 8 bytes of x{(i0)}, at 16 of 24
// CHECK-NOT: trusted
void by_hand(long n, double *restrict x, double *restrict y) {
  CHAIN;
  FOR("domain(0:$0) with(i) write x{(i)}", n - 1);
  for (long i = 0; i < n; i++) {
    x[i] = 1;
    x[n + i] = 2;
    x[2 * n + i] = 3;
  }
  NEXT;
  FOR("domain(0:$0) with(i) read x{(i)} write y{(i)}", n - 1);
  for (long i = 0; i < n; i++)
    y[i] = x[n + i] + x[2 * n + i];
  NEXT;
  END;
}

// Members of structs by themselves, and all of one.
struct point { double re, im; };
// CHECK: loop chain at {{.*}}: 2 loops
// CHECK: nest 0: writes P{(i)}: proved
// CHECK-NEXT: nest 0: reads Q{(i-1)}: proved
// CHECK-NEXT: nest 0: reads Q{(i)}: proved
// CHECK-NEXT: nest 1: writes Q{(i)}: proved
// CHECK-NEXT: nest 1: reads P{(i)}: proved
// CHECK: reads 8 bytes of Q{(i0-1)}, at 8 of 16
// CHECK: writes 16 bytes of Q{(i0)}, at 0 of 16
// CHECK-NOT: trusted
void members(int n, struct point *restrict p, struct point *restrict q) {
  CHAIN;
  FOR("domain(1:$0) with(i) write P{(i)} read Q{(i-1),(i)}", n - 1L);
  for (int i = 1; i < n; i++) {
    p[i].re = q[i].re + q[i - 1].im;
    p[i].im = q[i].im - q[i - 1].re;
  }
  NEXT;
  FOR("domain(1:$0) with(i) write Q{(i)} read P{(i)}", n - 1L);
  for (int i = 1; i < n; i++)
    q[i] = p[i];
  NEXT;
  END;
}

// Small arrays, downwards, and some of their numbers; nothing is declared.
// CHECK: loop chain at {{.*}}: 2 loops
// CHECK: nest 0: writes p{(i0)}: found
// CHECK-NEXT: nest 1: reads p{(i0)}: found
// CHECK-NEXT: nest 1: reads p{(i0)}: found
// CHECK-NEXT: nest 1: writes q{(i0)}: found
// CHECK: nest 0 line [[# @LINE + 8]]: writes 8 bytes of p{(i0)}, at 0 + 8 * %{{[0-9a-z]+}} of 24
// CHECK: reads 8 bytes of p{(i0)}, at 16 of 24
// CHECK-NOT: trusted
void arrays(int n, double (*restrict p)[3], double *restrict q) {
  CHAIN;
  FOR("domain(1:$0)", n - 1L);
  for (int i = 1; i < n; i++)
    for (int c = 2; c >= 0; c--)
      p[i][c] = 1;
  NEXT;
  FOR("domain(1:$0)", n - 1L);
  for (int i = 1; i < n; i++)
    q[i] = p[i][0] + p[i][2];
  NEXT;
  END;
}

// Rows are elements: what iterations access of them need not be the same.
// CHECK: loop chain at {{.*}}: 2 loops
// CHECK: nest 0: writes A{(i)}: proved
// CHECK-NEXT: nest 1: writes A{(i)}: proved
// CHECK-NEXT: nest 1: reads A{(i-1)}: proved
// CHECK-NEXT: nest 1: reads A{(i)}: proved
// CHECK-NOT: trusted
void rows(long n, double *restrict A) {
  CHAIN;
  FOR("domain(0:$0) with(i) write A{(i)}", n - 1);
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++)
      A[i * n + j] = 1;
  NEXT;
  FOR("domain(1:$0) with(i) write A{(i)} read A{(i-1)} read A{(i)}", n - 1);
  for (long i = 1; i < n; i++)
    for (long j = 1; j < n - 1; j++)
      A[i * n + j] = A[i * n + j - 1] + A[(i - 1) * n + j + 1];
  NEXT;
  END;
}

// One pointer of a table is one of its rows.
// CHECK: loop chain at {{.*}}: 2 loops
// CHECK: nest 0: writes x{(i)}: proved
// CHECK-NEXT: nest 1: reads x{(i)}: proved
// CHECK-NEXT: nest 1: writes y{(i)}: proved
// CHECK: nest 1 line [[# @LINE + 11]]: reads 8 bytes of x{(i0)}, at 8 of 24
// CHECK: trusted at {{.*}}: it is trusted that elements of x with different numbers are different ones
void table(long n, double **restrict t, double *restrict y) {
  CHAIN;
  FOR("domain(0:$0) with(i) write x{(i)}", n - 1);
  for (long i = 0; i < n; i++)
    for (long c = 0; c < 3; c++)
      t[c][i] = 1;
  NEXT;
  FOR("domain(0:$0) with(i) read x{(i)} write y{(i)}", n - 1);
  for (long i = 0; i < n; i++)
    y[i] = t[1][i];
  NEXT;
  END;
}

// A name stands for planes of an array, although another array has what is declared by it at more of the places.
static double A[64], B[3][64];
// CHECK: loop chain at {{.*}}: 1 loops
// CHECK: nest 0: reads planes{(i-1)}: proved
// CHECK-NEXT: nest 0: reads planes{(i)}: proved
// CHECK-NEXT: nest 0: writes one{(i)}: proved
// CHECK-NEXT: nest 0: reads one{(i)}: proved
// CHECK: reads 8 bytes of planes{(i0)}, at 0 of 24
// CHECK: reads 8 bytes of planes{(i0)}, at 8 of 24
// CHECK: reads 8 bytes of planes{(i0-1)}, at 16 of 24
void planes_of_an_array(long n) {
  CHAIN;
  FOR("domain(3:$0) with(i) read planes{(i-1),(i)} write one{(i)} read one{(i)}", n - 1);
  for (long i = 3; i < n; i++)
    A[i] += B[0][i] + B[1][i] + B[2][i - 1];
  NEXT;
  END;
}

// The plane between two that are declared is accessed in a loop alone that declares nothing.
// CHECK: loop chain at {{.*}}: 3 loops
// CHECK: nest 0: reads B{(i-1)}: proved
// CHECK: nest 1: reads B{(i)}: proved
// CHECK: nest 2: reads B{(i0-2)}: found
// CHECK-NEXT: nest 2: reads B{(i0-1)}: found
// CHECK-NEXT: nest 2: reads B{(i0)}: found
void planes_of_loops(long n) {
  CHAIN;
  FOR("domain(3:$0) with(i) read B{(i-1)} read A{(i)} write A{(i)}", n - 1);
  for (long i = 3; i < n; i++)
    A[i] += B[0][i - 1];
  NEXT;
  FOR("domain(3:$0) with(i) read B{(i)} read A{(i)} write A{(i)}", n - 1);
  for (long i = 3; i < n; i++)
    A[i] += B[2][i];
  NEXT;
  FOR("domain(3:$0)", n - 1);
  for (long i = 3; i < n; i++)
    A[i] = B[0][i - 2] + B[1][i - 1] + B[2][i];
  NEXT;
  END;
}

// What is read and not used is read.
static double second(double a, double b) { return b; }
// CHECK: loop chain at {{.*}}: 1 loops
// CHECK: nest 0: reads A{(i-1)}: proved
// CHECK-NEXT: nest 0: reads A{(i)}: proved
// CHECK-NEXT: nest 0: writes B{(i)}: proved
void unused(long n, double *restrict A, double *restrict B) {
  CHAIN;
  FOR("domain(1:$0) with(i) read A{(i-1),(i)} write B{(i)}", n - 1);
  for (long i = 1; i < n; i++) {
    double two[2] = {A[i - 1], A[i]};
    B[i] = second(two[0], two[1]);
  }
  NEXT;
  END;
}

// A row whose number is known when the program runs, of what nothing writes.
static double M[64][64];
// CHECK: loop chain at {{.*}}: 2 loops
// CHECK: nest 0: reads M{(i0)}: found
// CHECK-NOT: declined
// CHECK: parameters
void row_of_a_number(long n, int k) {
  CHAIN;
  FOR("domain(3:$0)", n - 1);
  for (long i = 3; i < n; i++)
    A[i] = M[k - 1][i];
  NEXT;
  FOR("domain(3:$0)", n - 1);
  for (long i = 3; i < n; i++)
    B[0][i] = 2 * A[i];
  NEXT;
  END;
}
