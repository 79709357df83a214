// What loop chains declare, and the code contradicts.
// RUN: clang-22 -O0 -g -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-chains>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: clang-22 -O2 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-chains>' -disable-output %t.ll 2>&1 | FileCheck %s
void __okl_omplc_chain(const char *, ...);
void __okl_omplc_end(void);
void __okl_omplc_for(const char *, ...);
void __okl_omplc_next(void);

#define CHAIN(MORE) __okl_omplc_chain("\"a.c\" @7:9 loopchain schedule()" MORE)
#define END __okl_omplc_end()
#define FOR(TEXT, ...) __okl_omplc_for("\"a.c\" @8:9 for " TEXT, __VA_ARGS__)
#define NEXT __okl_omplc_next()

void other(double *);

void wrong(long n, double *restrict A, double *restrict B) {
  // CHECK: wrong at a.c:9: the domain of this loop is declared as 1:n - 2, and it goes through 1:n - 1
  CHAIN("");
  FOR("domain(@9:3 1:$0)", n - 2);
  for (long i = 1; i < n; i++) A[i] = 1;
  NEXT;
  END;
  // CHECK: wrong at a.c:12: it is declared that an iteration reads B{(i-1)}, and it reads B{(i)}
  CHAIN("");
  FOR("domain(1:$0) with(i) @11:5 write A{(i)} @12:5 read B{(i),(i-1)}", n - 1);
  for (long i = 1; i < n; i++) A[i] = B[i];
  NEXT;
  END;
  // CHECK: wrong at a.c:8: an iteration of this loop writes A{(i+1)} (line [[# @LINE + 3]]), which is not declared
  CHAIN("");
  FOR("domain(1:$0) with(i) write A{(i)}", n - 2);
  for (long i = 1; i < n - 1; i++) { A[i] = 2; A[i + 1] = 1; }
  NEXT;
  END;
  // CHECK: wrong at a.c:8: an iteration of this loop reads A{(i-1)} (line [[# @LINE + 3]]), which is not declared
  CHAIN("");
  FOR("domain(1:$0) with(i) write A{(i)}", n - 1);
  for (long i = 1; i < n; i++) A[i] = A[i - 1];
  NEXT;
  END;
  // CHECK: wrong at a.c:8: an iteration of this loop writes in B (line [[# @LINE + 3]]) what is not declared
  CHAIN("");
  FOR("domain(1:$0) with(i) write A{(i)}", n - 1);
  for (long i = 1; i < n; i++) { A[i] = 1; B[i] = 2; }
  NEXT;
  END;
  // CHECK: wrong at a.c:7: C is no data space of the loops of this chain
  CHAIN(" local(@7:40 C)");
  FOR("domain(1:$0) with(i) write A{(i)}", n - 1);
  for (long i = 1; i < n; i++) A[i] = 1;
  NEXT;
  END;
  // CHECK: declined at {{.*}}: the loop chain stays as it is: an iteration of this loop calls other, of which it is not known what it does (line [[# @LINE + 3]])
  CHAIN("");
  FOR("domain(1:$0) with(i) write A{(i)}", n - 1);
  for (long i = 1; i < n; i++) { A[i] = 1; other(A + i); }
  NEXT;
  END;
  // CHECK: declined at {{.*}}: the loop chain stays as it is: elements of A with different numbers are the same: its rows are shorter than the loops go
  CHAIN("");
  FOR("domain(0:$0,0:$1) with(i,j) write A{(i,j)}", n - 1, n);
  for (long i = 0; i < n; i++) for (long j = 0; j <= n; j++) A[i * n + j] = 1;
  NEXT;
  END;
}

// What may be no address cannot be asked in front of it.
void derived(long n, double **a) {
  // CHECK: declined at {{.*}}: the loop chain stays as it is: it is not known whether {{.*}} and {{.*}} have memory in common, and not declared what its loops access
  CHAIN("");
  FOR("domain(1:$0)", n - 1);
  for (long i = 1; i < n; i++) a[0][i] = a[1][i];
  NEXT;
  END;
}

void shapes(long n, char *restrict a) {
  double w[4];
  // CHECK: declined at {{.*}}: the loop chain stays as it is: elements of A beside each other may have memory in common
  CHAIN("");
  FOR("domain(1:$0) with(i) write A{(i)}", n - 1);
  for (long i = 1; i < n; i++) *(double *)(a + 4 * i) = 1;
  NEXT;
  END;
  // CHECK: declined at a.c:8: the loop chain stays as it is: an iteration of this loop writes something in w (line [[# @LINE + 3]]), and where in it is not understood
  CHAIN("");
  FOR("domain(1:$0) with(i) write A{(i)}", n - 1);
  for (long i = 1; i < n; i++) { w[i & 3] = 1; a[i] = w[1]; }
  NEXT;
  END;
}

long N;
long *p;
void changes(long n) {
  // CHECK: declined at {{.*}}: the loop chain stays as it is: what its loops write in N decides where they go or what they access
  CHAIN("");
  FOR("domain(0:$0) with(i) write p{(i)}", N - 1);
  for (long i = 0; i < N; i++) p[i] = 1;
  NEXT;
  FOR("domain(0:$0) with(i)", n - 1);
  for (long i = 0; i < n; i++) N = n;
  NEXT;
  END;
}

double *moved(double *);

void found(unsigned n, double *restrict a, double *restrict r) {
  // CHECK: declined at {{.*}}: the loop chain stays as it is: the domain of this loop is declared as 0:{{.*}}, and it goes through 0:n - 1: whether that is the same is not known
  CHAIN("");
  FOR("domain(0:$0) with(i) write A{(i)}", (long)(n % 77));
  for (unsigned i = 0; i < n; i++) a[i] = 1;
  NEXT;
  END;
  // Rows that go backwards, and into each other.
  // CHECK: declined at {{.*}}: the loop chain stays as it is: elements of A with different numbers are the same: its rows are shorter than the loops go
  CHAIN("");
  FOR("domain(0:20,0:19) with(i,j) write A{(i,j)}", 0L);
  for (int i = 0; i <= 20; i++)
    for (int j = 0; j <= 19; j++)
      a[10 * i + 19 - j] = i;
  NEXT;
  END;
  // What comes from a pointer that is restrict is not apart from it.
  double *x = moved(a);
  // CHECK: {{.*}} and {{.*}} are apart: asked
  CHAIN("");
  FOR("domain(0:99)", 0L);
  for (int i = 0; i <= 99; i++) x[i] = i;
  NEXT;
  FOR("domain(0:99)", 0L);
  for (int i = 0; i <= 99; i++) r[i] = a[i + 1];
  NEXT;
  END;
}

// What has no name is called by what is done there.
void unnamed(long n, double *A) {
  // CHECK: declined at {{.*}}: the loop chain stays as it is: it is not known whether what is read in line [[# @LINE + 4]] and A have memory in common
  CHAIN("");
  FOR("domain(0:$0)", n - 1);
  for (long i = 0; i < n; i++)
    A[i] = ((double *)4096)[i];
  NEXT;
  END;
}

// The variable of a name is what is meant, also where another one has what is declared.
void same_name(long n, double *restrict A, double *restrict B) {
  // CHECK: wrong at a.c:12: it is declared that an iteration reads A{(i+1)}, and it reads A{(i)}
  CHAIN("");
  FOR("domain(1:$0) with(i) @12:5 read A{(i+1),(i)} @13:5 write C{(i)}", n - 2);
  for (long i = 1; i < n - 1; i++) B[i] = A[i] + B[i + 1];
  NEXT;
  END;
}
