// Elements of loop chains that may have something in common, or are not told from others.
// RUN: clang-22 -O0 -g -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-chains>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: clang-22 -O2 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-chains>' -disable-output %t.ll 2>&1 | FileCheck %s
void __okl_omplc_chain(const char *, ...);
void __okl_omplc_end(void);
void __okl_omplc_for(const char *, ...);
void __okl_omplc_next(void);

#define CHAIN __okl_omplc_chain("\"a.c\" @7:9 loopchain schedule()")
#define END __okl_omplc_end()
#define FOR(TEXT, ...) __okl_omplc_for("\"a.c\" @8:9 for " TEXT, __VA_ARGS__)
#define NEXT __okl_omplc_next()

void overlaps(long n, double *restrict A, long s) {
  // CHECK: declined at {{.*}}: the loop chain stays as it is: it is declared that an iteration writes A{(i)}, and what it writes in A (line [[# @LINE + 4]]) is not told from what others access
  CHAIN;
  FOR("domain(1:$0) with(i) write A{(i)}", n - 1);
  for (long i = 1; i < n; i++)
    for (int c = 0; c < 3; c++) A[i + c] = 1;
  NEXT;
  END;
  // CHECK: declined at {{.*}}: elements of A with different numbers are the same: its rows are shorter than the loops go
  CHAIN;
  FOR("domain(1:$0) with(i) write A{(i)}", n - 1);
  for (long i = 1; i < n; i++)
    for (int c = 0; c < 3; c++) A[2 * i + c] = 1;
  NEXT;
  END;
  // CHECK: declined at {{.*}}: it is not known whether elements of A with different numbers are different ones
  CHAIN;
  FOR("domain(1:$0) with(i) write A{(i)}", n - 1);
  for (long i = 1; i < n; i++)
    for (int c = 0; c < 3; c++) A[i + c * s] = 1;
  NEXT;
  END;
  // Planes that are too small by one.
  // CHECK: declined at {{.*}}: elements of A with different numbers are the same: its rows are shorter than the loops go
  CHAIN;
  FOR("domain(0:$0) with(i) write A{(i)}", n);
  for (long i = 0; i <= n; i++)
    for (int c = 0; c < 3; c++) A[i + c * n] = 1;
  NEXT;
  END;
  // The same, but only for what another loop reads.
  // CHECK: declined at {{.*}}: elements of A with different numbers are the same: its rows are shorter than the loops go
  CHAIN;
  FOR("domain(0:$0) with(i) write A{(i)}", n - 1);
  for (long i = 0; i < n; i++)
    for (int c = 0; c < 3; c++) A[i + c * n] = 1;
  NEXT;
  FOR("domain(0:$0) with(i) read A{(i+1)}", n - 1);
  for (long i = 0; i < n; i++)
    for (int c = 0; c < 3; c++) s += A[i + 1 + c * n] > 0;
  NEXT;
  END;
  A[0] = s;
}

void families(long n, double *restrict A, double *restrict B) {
  // Components outside of elements in one loop, inside in another one.
  // CHECK: declined at {{.*}}: the loop chain stays as it is: it is declared that an iteration
  CHAIN;
  FOR("domain(0:$0) with(i) write A{(i)}", n - 1);
  for (long i = 0; i < n; i++)
    for (int c = 0; c < 3; c++) A[i + c * n] = 1;
  NEXT;
  FOR("domain(0:$0) with(i) read A{(i)} write A{(i)}", n - 1);
  for (long i = 0; i < n; i++)
    for (int c = 0; c < 3; c++) A[3 * i + c] *= 2;
  NEXT;
  END;
  // What the number is behind a loop is none of those that it has come to.
  // CHECK: declined at {{.*}}: an iteration of this loop writes something in A (line [[# @LINE + 6]]), and where in it is not understood
  CHAIN;
  FOR("domain(0:$0) with(i) write A{(i)}", n - 1);
  for (long i = 0; i < n; i++) {
    int c;
    for (c = 0; c < 3; c++) A[4 * i + c] = 1;
    A[4 * i + c] = 2;
  }
  NEXT;
  END;
  // Whether there is a second component is not known.
  // CHECK: declined at {{.*}}: the loop chain stays as it is: it is declared that an iteration reads A{(i)}, and what it reads in A (line [[# @LINE + 6]]) is not told from what others access
  CHAIN;
  FOR("domain(0:$0) with(i) write A{(i)}", n - 1);
  for (long i = 0; i < n; i++) for (long c = 0; c < n; c++) A[n * i + c] = 1;
  NEXT;
  FOR("domain(0:$0) with(i) read A{(i)} write B{(i)}", n - 1);
  for (long i = 0; i < n; i++) B[i] = A[n * i + 1];
  NEXT;
  END;
  // An iteration of two loops writes a part of what is declared.
  // CHECK: declined at {{.*}}: the loop chain stays as it is: it is declared that an iteration writes A{(i)}, and what it writes in A (line [[# @LINE + 4]]) is not told from what others access
  CHAIN;
  FOR("domain(0:$0,0:$0) with(i,j) write A{(i)}", n - 1);
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++) A[i * n + j] = 1;
  NEXT;
  END;
  // Nothing declared, and windows that overlap.
  // CHECK: declined at {{.*}}: elements of A with different numbers are the same: its rows are shorter than the loops go
  CHAIN;
  FOR("domain(0:$0)", n - 1);
  for (long i = 0; i < n; i++)
    for (int c = 0; c < 3; c++) A[2 * i + c] = 1;
  NEXT;
  END;
}

static double P[3][40][40], Q[40 * 40];

void planes(long n) {
  // As long as rows of arrays are said to be is trusted, and nothing else.
  // CHECK: trusted at {{.*}}: it is trusted that elements of P with different numbers are different ones
  CHAIN;
  FOR("domain(0:$0,0:$0) with(i,j) write P{(i,j)}", n);
  for (long i = 0; i <= n; i++)
    for (long j = 0; j <= n; j++)
      for (int c = 0; c < 3; c++) P[c][i][j] = c;
  NEXT;
  FOR("domain(0:$0,0:$0) with(i,j) read P{(i,j)} write Q{(i,j)}", n);
  for (long i = 0; i <= n; i++)
    for (long j = 0; j <= n; j++) Q[i * 40 + j] = P[0][i][j] + P[2][i][j];
  NEXT;
  END;
  // CHECK: declined at {{.*}}: it is not known whether elements of Q with different numbers are different ones
  CHAIN;
  FOR("domain(0:$0) with(i) write Q{(i)}", n);
  for (long i = 0; i <= n; i++)
    for (int c = 0; c < 3; c++) Q[i + 5 * c] = P[1][2][c];
  NEXT;
  END;
  // CHECK: wrong at a.c:8: an iteration of this loop writes Q{(i+5)} (line [[# @LINE + 3]]), which is not declared
  CHAIN;
  FOR("domain(0:$0) with(i) write Q{(i)}", n);
  for (long i = 0; i <= n; i++) { Q[i] = 1; Q[i + 5] = 2; }
  NEXT;
  END;
}
