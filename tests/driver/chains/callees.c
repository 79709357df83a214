// Loops in functions that chains call: what keeps their code from standing in place of a call is said at the call, and the chain
// runs as it is written; and so it is said of loops that no chain calls, and of conditions that cannot be asked in front of one.
//
// RUN: split-file %s %t.d && cd %t.d && (%okl-cc --okl-target=cpu -O2 -c refused.c -o refused.o) >refused.txt 2>&1 && (grep -v '^ \|generated' refused.txt | diff -B expected.txt -)
// RUN: cd %t.d && (%okl-cc --okl-target=cpu --okl-strict -O2 -c refused.c -o refused.o 2>&1 || true) | grep -c error: | FileCheck --check-prefix=STRICT %s
// STRICT: 13
//
// Without a chain such a function has the threads that its directives give it, and all that its loops do is written.
// RUN: cd %t.d && %okl-cc --okl-target=cpu -fopenmp -w -O0 -S -emit-llvm alone.c -o - | FileCheck --check-prefix=ALONE --implicit-check-not=__okl_omplc %s
// ALONE: define {{.*}}@alone
// ALONE: call {{.*}}@__kmpc_fork_call({{.*}}@alone.omp_outlined
// ALONE: define {{.*}}@alone.omp_outlined
// ALONE: fsub
// ALONE: fadd

// A loop is split at the borders that its conditions name, and asks for none of them.
// RUN: cd %t.d && %okl-cc --okl-target=cpu -O1 -S -emit-llvm split.c -o - | FileCheck --check-prefix=SPLIT --implicit-check-not='select i1 {{.*}} double' --implicit-check-not=__okl_omplc %s
// SPLIT: define {{.*}}@split
// SPLIT: store double 2.0
// SPLIT: store double 3.0
// SPLIT: store double 3.0
// SPLIT: store double 2.0
// SPLIT: ret void

// A function that returns in front of its loops has the chain run as it is written, which is asked in front of it.
// RUN: cd %t.d && clang-22 -w -O2 early.c -o early.plain && ./early.plain >early.expected
// RUN: cd %t.d && %okl-cc --okl-target=cpu -O2 -Rpass=okl early.c -o early 2>&1 | FileCheck --check-prefix=EARLY %s && ./early | diff - early.expected
// RUN: cd %t.d && %okl-cc --okl-target=cpu -O1 -g -Rpass=okl early.c -o early 2>&1 | FileCheck --check-prefix=EARLY %s && ./early | diff - early.expected
// EARLY: early.c:14:13: remark: the loop chain runs as scheduled
//
//--- early.c
#include <stdio.h>
static void first(const double *restrict a, double *restrict b, int n, int skips) {
  int half = n / 2;
  if (n <= 0 || skips) return;
#pragma omplc for domain(1 : n) with(i) read a{(i-1),(i+1)}, write b{(i)}
  for (int i = 1; i <= n; i++) b[i] = a[i-1] + a[i+1] + half;
}
static void second(double *restrict a, const double *restrict b, int n) {
  if (n >= 1) {
#pragma omplc for domain(1 : n) with(i) read b{(i)}, write a{(i)}
    for (int i = 1; i <= n; i++) a[i] = b[i] * 0.5;
  }
}
static void both(double *restrict a, double *restrict b, int n, int m, int skips) {
#pragma omplc loopchain schedule(fuse())
  {
    first(a, b, n, skips);
    second(a, b, m);
  }
}
int main(int count, char **v) {
  static double a[102], b[102];
  int sizes[] = {50, 100, 0, -3, 80};
  (void)v;
  for (int i = 0; i < 102; i++) a[i] = i % 7;
  for (int t = 0; t < 25; t++) both(a, b, sizes[t / 5] * count, sizes[t % 5] * count, t % 6 == 0);
  double sum = 0;
  for (int i = 0; i < 102; i++) sum += a[i] * i + b[i];
  printf("%a\n", sum);
}

//--- split.c
void split(double *a, int n, int first) {
#pragma omplc loopchain schedule(serial)
  {
#pragma omplc for domain(0 : n - 1) with(i) write a{(i)}
    for (int i = 0; i < n; i++) {
#pragma omplc strip
      if (i >= first && (n - 7 > i || i == first)) a[i] = 3;
      else a[i] = 2;
    }
  }
}

//--- refused.c
#define LOOP(sign)                                                                                                           \
  _Pragma("omplc for domain(0 : 9) with(i) read from{(i)}, write to{(i)}")                                                   \
  for (int i = 0; i < 10; i++) to[i] = from[i] sign 1;
typedef double *restrict array;
void elsewhere(array from, array to);
static void (*chosen)(array from, array to) = elsewhere;
__attribute__((weak)) void replaced(array from, array to) { LOOP(+) }
static void itself(array from, array to, int n) {
  LOOP(+)
  if (n) itself(from, to, n - 1);
}
static void any(array from, array to, ...) { LOOP(+) }
static void own(array from, array to) {
#pragma omplc loopchain schedule()
  {
    LOOP(+)
  }
}
__attribute__((target("avx512f"))) static void other(array from, array to) { LOOP(+) }
static void one(array from, array to) { LOOP(-) }
static void two(array from, array to) {
  for (int i = 0; i < 10; i++) to[i] = from[i];
  for (int i = 0; i < 10; i++) to[i] += from[i];
}
void unused(array from, array to) {
  LOOP(*)
}
#define CHAIN(name, ...)                                                                                                     \
  void name(array a, array b, int n) {                                                                                       \
    _Pragma("omplc loopchain schedule(fuse)") {                                                                              \
      one(a, b);                                                                                                             \
      __VA_ARGS__;                                                                                                           \
    }                                                                                                                        \
  }
CHAIN(calls_elsewhere, elsewhere(b, a))
CHAIN(calls_chosen, chosen(b, a))
CHAIN(calls_replaced, replaced(b, a))
CHAIN(calls_itself, itself(b, a, n))
CHAIN(calls_any, any(b, a, n))
CHAIN(calls_own, own(b, a))
CHAIN(calls_other, other(b, a))
void calls_two(array a, array b) {
#pragma omplc loopchain schedule(fuse)
  {
#pragma omplc for domain(0 : 9)
    two(a, b);
  }
}
int global;
void strips(array a, array b, int n) {
#pragma omplc loopchain schedule(fuse)
  {
#pragma omplc for domain(0 : 9)
    for (int i = 0; i < 10; i++) {
#pragma omplc strip
      if (i > 0 && a[i] == 0) a[i] = 2;
      else a[i] = 3;
    }
  }
#pragma omplc loopchain schedule(fuse)
  {
#pragma omplc for domain(0 : 9)
    for (int i = 0; i < 10; i++) {
#pragma omplc strip
      if (i % 2 == 0) a[i] = 2;
    }
  }
#pragma omplc loopchain schedule(fuse)
  {
#pragma omplc for domain(0 : 9)
    for (int i = 0; i < 10; i++) {
#pragma omplc strip
      if (n != 0 && 10 / n > 1) a[i] = 2;
    }
  }
#pragma omplc loopchain schedule(fuse)
  {
#pragma omplc for domain(0 : 9)
    for (int i = 0; i < 10; i++) {
#pragma omplc strip
      if (global) a[i] = 2;
    }
  }
}
static void early(array from, array to, int n) {
  if (from[n] == 0) return;
  LOOP(+)
}
CHAIN(calls_early, early(b, a, n))

//--- expected.txt
warning: refused.c:35: the loop chain stays as it is: what 'elsewhere' does is not seen, as it is in another file or a library; if it has loops of the chain, compile both files and link them by okl-cc with -flto, or define it in this file or in a header that this file includes; other calls belong in front of the chain or behind it [-Wbackend-plugin]
warning: refused.c:36: the loop chain stays as it is: which function is called here is known only when the program runs [-Wbackend-plugin]
warning: refused.c:37: the loop chain stays as it is: 'replaced' has loops of it, and another function may take its place when the program is linked [-Wbackend-plugin]
warning: refused.c:38: the loop chain stays as it is: 'itself' has loops of it, and calls itself [-Wbackend-plugin]
warning: refused.c:39: the loop chain stays as it is: 'any' has loops of it, and takes any number of arguments [-Wbackend-plugin]
warning: refused.c:40: the loop chain stays as it is: 'own' has loops of it, and has a loop chain of its own [-Wbackend-plugin]
warning: refused.c:41: the loop chain stays as it is: 'other' has loops of it, and its code cannot stand in place of its call, as where it is compiled for another processor [-Wbackend-plugin]
warning: refused.c:45: the loop chain stays as it is: the function that is called behind this pragma has several loops: the pragmas for them stand in it [-Wbackend-plugin]
warning: refused.c:55: the loop chain stays as it is: this condition is neither the same for all iterations nor asks where one is, by variables of the function that nothing in the chain changes, such as `i == 0 || i >= n - 2` [-Wbackend-plugin]
warning: refused.c:64: the loop chain stays as it is: this condition is neither the same for all iterations nor asks where one is, by variables of the function that nothing in the chain changes, such as `i == 0 || i >= n - 2` [-Wbackend-plugin]
warning: refused.c:72: the loop chain stays as it is: this condition is neither the same for all iterations nor asks where one is, by variables of the function that nothing in the chain changes, such as `i == 0 || i >= n - 2` [-Wbackend-plugin]
warning: refused.c:80: the loop chain stays as it is: this condition is neither the same for all iterations nor asks where one is, by variables of the function that nothing in the chain changes, such as `i == 0 || i >= n - 2` [-Wbackend-plugin]
warning: refused.c:89: the loop chain stays as it is: control does not go from one of its loops to the next one here without a condition [-Wbackend-plugin]
warning: refused.c:26: no loop chain of this file, or of one that is linked with it with -flto, calls 'unused': this loop runs as it is written [-Wbackend-plugin]

//--- alone.c
void alone(double *restrict a, int is_first) {
#pragma omp parallel for
#pragma omplc for domain(0 : 9)
  for (int i = 0; i < 10; i++) {
#pragma omplc strip
    if (is_first) a[i] -= 1;
    else a[i] += 1;
  }
}
