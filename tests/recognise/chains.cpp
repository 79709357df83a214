// Loop chains in C++, where calls may leave by exceptions.
// RUN: clang++-22 -O0 -gline-tables-only -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-chains>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: clang++-22 -O2 -Xclang -disable-llvm-passes -gline-tables-only -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-chains>' -disable-output %t.ll 2>&1 | FileCheck %s
extern "C" {
void __okl_omplc_chain(const char *, ...);
void __okl_omplc_end(void);
void __okl_omplc_for(const char *, ...);
void __okl_omplc_next(void);
}

#define CHAIN() __okl_omplc_chain("\"a.cpp\" @7:9 loopchain schedule()")
#define END __okl_omplc_end()
#define FOR(TEXT, ...) __okl_omplc_for("\"a.cpp\" @8:9 for " TEXT, __VA_ARGS__)
#define NEXT __okl_omplc_next()

struct Owner {
  double *data;
  int n;
  Owner(int n);
  ~Owner();
  double &operator()(int i, int j) { return data[i * n + j]; }
};

double may_throw(double);

// CHECK: loop chain at {{.*}}: 1 loops
// CHECK: nest 0: writes A{(i,j)}: proved
// CHECK-NEXT: nest 0: reads A{(i,j-1)}: proved
void plain(Owner &A, int n) {
  CHAIN();
  FOR("domain(1:$0,1:$0) with(i,j) write A{(i,j)} read A{(i,j-1)}", long(n - 1));
  for (int i = 1; i < n; i++)
    for (int j = 1; j < n; j++)
      A(i, j) = A(i, j - 1);
  NEXT;
  END;
}

// The calls that mark it may unwind, as far as clang knows.
// CHECK: loop chain at {{.*}}: 1 loops
// CHECK: nest 0: writes A{(i)}: proved
double owns(double *a, int n) {
  Owner B(n);
  CHAIN();
  FOR("domain(0:$0) with(i) write A{(i)}", long(n - 1));
  for (int i = 0; i < n; i++)
    a[i] = i;
  NEXT;
  END;
  return B(0, 0);
}

// CHECK: declined at {{.*}}: the loop chain stays as it is: an iteration of this loop calls may_throw{{.*}}, of which it is not known what it does
void calls(double *a, int n) {
  CHAIN();
  FOR("domain(0:$0) with(i) write A{(i)}", long(n - 1));
  for (int i = 0; i < n; i++)
    a[i] = may_throw(i);
  NEXT;
  END;
}

// CHECK: declined at {{.*}}chains.cpp:[[# @LINE + 6]]: the loop chain stays as it is: an exception may leave it here
double throws(double *a, int n) {
  Owner B(n);
  CHAIN();
  FOR("domain(0:$0) with(i) write A{(i)}", long(n - 1));
  for (int i = 0; i < n; i++)
    a[i] = may_throw(i);
  NEXT;
  END;
  return B(0, 0);
}

// CHECK: declined at {{.*}}chains.cpp:[[# @LINE + 6]]: the loop chain stays as it is: an exception may leave it here
void tries(double *a, int n) {
  try {
    CHAIN();
    FOR("domain(0:$0) with(i) write A{(i)}", long(n - 1));
    for (int i = 0; i < n; i++)
      a[i] = may_throw(i);
    NEXT;
    END;
  } catch (...) {
    a[0] = -1;
  }
}
