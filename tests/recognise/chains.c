// Loop chains, as the driver's marker calls stand in the code that clang makes at any level: which they are, and why
// something is none.
// RUN: clang-22 -O0 -gline-tables-only -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-chains>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: clang-22 -O2 -Xclang -disable-llvm-passes -gline-tables-only -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-chains>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: clang-22 -O2 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-chains>' -disable-output %t.ll 2>&1 | FileCheck --check-prefix=PLAIN %s
void __okl_omplc_chain(const char *, ...);
void __okl_omplc_end(void);
void __okl_omplc_for(const char *, ...);
void __okl_omplc_next(void);

#define CHAIN(...) __okl_omplc_chain("\"a.c\" @7:9 loopchain schedule()", ##__VA_ARGS__)
#define END __okl_omplc_end()
#define FOR1(...) __okl_omplc_for("\"a.c\" @8:9 for domain($0:$1) with(i)", __VA_ARGS__)
#define FOR2(...) __okl_omplc_for("\"a.c\" @9:9 for domain($0:$1,$2:$3) with(i,j)", __VA_ARGS__)
#define NEXT __okl_omplc_next()

void two(long n, double *A, double *B) {
  // CHECK: loop chain at {{.*}}chains.c:[[# @LINE + 4]]: 2 loops
  // CHECK-NEXT:   nest at {{.*}}chains.c:[[# @LINE + 5]]: i32 <=, i64 <
  // CHECK-NEXT:   nest at {{.*}}chains.c:[[# @LINE + 9]]: u32 <
  // PLAIN: loop chain at a.c:7: 2 loops
  CHAIN();
  {
    FOR2(1L, n - 2, 1L, n - 2);
    for (int i = 1; i <= n - 2; i++)
      for (long j = 1; j < n - 1; ++j)
        A[i * n + j] = B[i * n + j];
    NEXT;
    FOR1(0L, n - 1);
    for (unsigned i = 0; n > i; i += 1)
      B[i] = A[i];
    NEXT;
  }
  END;
}

// A loop around, iterators that are declared outside, loops in the body, and conditions there.
void inside(int n, double *A, double *B) {
  int i, j, k;
  for (k = 0; k < 10; k++) {
    // CHECK: loop chain at {{.*}}chains.c:[[# @LINE + 3]]: 2 loops
    // CHECK-NEXT: : i32 <, i32 <
    // CHECK-NEXT: : i32 <
    CHAIN();
    FOR2(0L, (long)n - 1, 0L, (long)n - 1);
    for (i = 0; i < n; i++)
      for (j = 0; j < n; j++) {
        if (k == 3)
          continue;
        for (int l = 0; l < 4; l++)
          A[i * n + j] += B[l];
      }
    NEXT;
    FOR1(0L, (long)n - 1);
    for (i = 0; i < n; i++)
      B[i] = i;
    NEXT;
    END;
  }
}

void none(long n, double *A, double *B, int m) {
  // CHECK: wrong at {{.*}}chains.c:[[# @LINE + 4]]: this loop of a chain is left by a `break`, `return` or `goto`
  // PLAIN: wrong at a.c:8: this loop of a chain is left by a `break`, `return` or `goto`
  CHAIN();
  FOR1(0L, n - 1);
  for (long i = 0; i < n; i++)
    if (A[i] > 0)
      break;
  NEXT;
  END;
  // CHECK: wrong at {{.*}}chains.c:[[# @LINE + 2]]: its domain has 2 dimensions, and 1 loop one right in the other are here
  CHAIN();
  FOR2(0L, n - 1, 0L, n - 1);
  for (long i = 0; i < n; i++)
    A[i] = 1;
  NEXT;
  END;
  // CHECK: wrong at {{.*}}chains.c:[[# @LINE + 2]]: this loop is in a loop chain and has no `#pragma omplc for`
  CHAIN();
  for (long i = 0; i < n; i++)
    A[i] = 1;
  END;
  // CHECK: wrong at {{.*}}chains.c:[[# @LINE + 1]]: this loop chain has no loop with `#pragma omplc for`
  CHAIN();
  END;
  // CHECK: wrong at {{.*}}chains.c:[[# @LINE + 5]]: this leaves the loop chain, all of which has to run
  CHAIN();
  FOR1(0L, n - 1);
  for (long i = 0; i < n; i++) A[i] = 1;
  NEXT;
  return;
  END;
}

void stay(long n, double *A, double *B, int m) {
  // CHECK: declined at {{.*}}chains.c:[[# @LINE + 6]]: the loop chain stays as it is: this stands between its loops, and belongs in front of the chain or behind it
  CHAIN();
  FOR1(0L, n - 1);
  for (long i = 0; i < n; i++)
    A[i] = 1;
  NEXT;
  m++;
  FOR1(0L, n - 1);
  for (long i = 0; i < n; i++)
    A[i] = m;
  NEXT;
  END;
  // CHECK: declined at {{.*}}chains.c:[[# @LINE + 3]]: the loop chain stays as it is: this loop does not count up by 1
  CHAIN();
  FOR1(0L, n - 1);
  for (long i = 0; i < n; i += 2)
    A[i] = m;
  NEXT;
  END;
  // One without a sign may go round until it is its end, and a short one as well.
  // CHECK: declined at {{.*}}chains.c:[[# @LINE + 3]]: the loop chain stays as it is: this loop is not understood: it has the form
  CHAIN();
  FOR1(0L, n - 1);
  for (unsigned i = 0; i != (unsigned)n; i++)
    A[i] = m;
  NEXT;
  END;
  // CHECK: declined at {{.*}}chains.c:[[# @LINE + 3]]: the loop chain stays as it is: this loop is not understood: it has the form
  CHAIN();
  FOR1(0L, n - 1);
  for (short i = 0; i != n; i++)
    A[i] = m;
  NEXT;
  END;
  // CHECK: declined at {{.*}}chains.c:[[# @LINE + 4]]: the loop chain stays as it is: this stands between the loops of a nest
  CHAIN();
  FOR2(0L, n - 1, 0L, n - 1);
  for (long i = 0; i < n; i++) {
    double x = B[i];
    for (long j = 0; j < n; j++)
      A[i * n + j] = x;
  }
  NEXT;
  END;
  // CHECK: declined at {{.*}}chains.c:[[# @LINE + 5]]: the loop chain stays as it is: this stands between the loops of a nest
  CHAIN();
  FOR2(0L, n - 1, 0L, n - 1);
  for (long i = 0; i < n; i++) {
    for (long j = 0; j < n; j++) A[i * n + j] = B[j];
    B[i] = 1;
  }
  NEXT;
  END;
  // CHECK: declined at {{.*}}chains.c:[[# @LINE + 4]]: the loop chain stays as it is: this loop has an iterator that is changed in its body
  long i;
  CHAIN();
  FOR1(0L, n - 1);
  for (i = 0; i < n; i++) {
    A[i] = m;
    i += m;
  }
  NEXT;
  END;
  // CHECK: declined at {{.*}}chains.c:[[# @LINE + 2]]: the loop chain stays as it is: control does not go from one of its loops to the next one here without a condition
  CHAIN();
  if (m) {
    FOR1(0L, n - 1);
    for (long i = 0; i < n; i++)
      A[i] = m;
    NEXT;
  }
  END;
  // CHECK: declined at {{.*}}chains.c:[[# @LINE + 3]]: the loop chain stays as it is: this loop has an end that changes while it runs
  CHAIN();
  FOR1(0L, n - 1);
  for (long i = 0; i < n; i++) {
    A[i] = m;
    n = n - 1;
  }
  NEXT;
  END;
}

void end(void);
int ends(void);
void calls(long n, double *A) {
  // CHECK: declined at {{.*}}chains.c:[[# @LINE + 3]]: the loop chain stays as it is: this is run each time it is asked whether a loop has come to its end; keep it in a variable in front of the chain
  CHAIN();
  FOR1(0L, n - 1);
  for (long i = 0; i < ends(); i++)
    A[i] = 3;
  NEXT;
  END;
}
