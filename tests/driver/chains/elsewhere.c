// Functions with loops that chains of other files call: with -flto their code takes the place of the calls when the program is
// linked, and what is wrong with a chain is told there, at its line. The programs compute what they compute without okl.
//
// RUN: split-file %s %t.d && cd %t.d && clang-22 -w -O1 main.c kernels.c inner.c -o plain && ./plain >expected
//
// Files one by one, one of which calls what a third one defines; a shared library's symbols are as they were.
// RUN: cd %t.d && for file in main kernels inner; do %okl-cc --okl-target=cpu -O2 -fopenmp -fPIC -flto -c $file.c 2>&1 || exit 1; done | count 0
// RUN: cd %t.d && %okl-cc -O2 -fopenmp -flto -Rpass=okl main.o inner.o kernels.o -o program 2>&1 | FileCheck %s && ./program | diff - expected
// CHECK: main.c:6:9: b shrinks to (1), for each thread
// CHECK: main.c:6:9: the loop chain runs as scheduled
// CHECK-NOT: chain
// RUN: cd %t.d && nm program | FileCheck --check-prefix=NAMES %s
// NAMES-NOT: okl-kept
//
// All in one command, as C++, without optimisation and with debug information, with LLVM's own linker; its file of dependencies.
// RUN: cd %t.d && %okl-c++ --okl-target=cpu -x c++ -fopenmp -flto -g -Rpass=okl -MD -fuse-ld=lld kernels.c main.c inner.c -o debug 2>&1 | FileCheck %s && ./debug | diff - expected && grep -q kernels.h debug.d
//
// Which function the linker takes from archives, and where it is told to take others, is not known: the chain stays as it is.
// RUN: cd %t.d && llvm-ar rcs libkernels.a kernels.o inner.o && %okl-cc -O2 -fopenmp -flto -Rpass=okl main.o -L. -lkernels -o archived 2>&1 | FileCheck --check-prefix=OTHER %s && ./archived | diff - expected
// RUN: cd %t.d && %okl-cc -O2 -c -fopenmp other.c && %okl-cc -O2 -fopenmp -flto main.o other.o libkernels.a -o other 2>&1 | FileCheck --check-prefix=OTHER %s && ./other | not diff -q - expected
// RUN: cd %t.d && echo '--wrap=smooth' > wraps && echo 'other = smooth;' > script && for told in -Wl,--wrap=smooth -Wl,@wraps -Wl,-z,muldefs '-z muldefs' script; do (%okl-cc -O2 -fopenmp -flto main.o kernels.o inner.o $told -o told 2>&1 || true) | FileCheck --check-prefix=OTHER %s || exit 1; done
// OTHER: warning: main.c:8: the loop chain stays as it is: what 'smooth' does is not seen
//
// Ranks share what comes of it.
// RUN: cd %t.d && %okl-cc --okl-target=mpi -O2 -fopenmp -flto=thin -fuse-ld=lld -Rpass=okl main.c kernels.c inner.c -o ranks 2>&1 | FileCheck --check-prefix=RANKS %s && %launch -n 2 ./ranks | diff - expected
// RANKS: main.c:6:9: {{.*}}the loop chain runs as scheduled
//
// What is wrong is told when the program is linked, and so is what is not seen even then.
// RUN: cd %t.d && %okl-cc --okl-target=cpu -O2 -fopenmp -fPIC -flto -c wrong.c && (%okl-cc -O2 -fopenmp -flto wrong.o inner.o -o wrong 2>&1 || true) | FileCheck --check-prefix=WRONG %s
// WRONG: wrong.c:7:34: error: iterations cannot run in this order: loop 2 (line 4) overwrites what loop 1 (line 4) reads of `a`
// WRONG-NOT: asm
// RUN: cd %t.d && %okl-cc --okl-target=cpu -O2 -fopenmp -fPIC -flto -c missing.c && (%okl-cc -O2 -fopenmp -flto missing.o -o missing 2>&1 || true) | FileCheck --check-prefix=MISSING %s
// MISSING: warning: missing.c:5: the loop chain stays as it is: what 'missing' does is not seen, as it is in another file or a library; if it has loops of the chain, compile both files and link them by okl-cc with -flto
// MISSING: warning: missing.c:9: the loop chain stays as it is: this is of a directive of OpenMP, which the schedule replaces only where the pragma of a loop stands in front of it
// RUN: cd %t.d && %okl-cc --okl-target=cpu --okl-strict -O2 -flto -c missing.c && (%okl-cc -O2 -fopenmp -flto missing.o -o missing 2>&1 || true) | FileCheck --check-prefix=STRICT %s
// STRICT: error: missing.c:5: the loop chain stays as it is: what 'missing' does is not seen
// Files for different targets stay apart, and so do those that LLVM does not make one of.
// RUN: cd %t.d && %okl-cc -O2 -fopenmp -flto -c main.c -o for-ranks.o && (%okl-cc -O2 -fopenmp -flto for-ranks.o kernels.o inner.o -o apart 2>&1 || true) | FileCheck --check-prefix=TARGET %s
// TARGET: warning: loop chains of for-ranks.o do not see functions of kernels.o: one is compiled without, the other with --okl-target=cpu
// TARGET: warning: main.c:8: the loop chain stays as it is: what 'smooth' does is not seen
// RUN: cd %t.d && %okl-cc --okl-target=cpu -O2 -fopenmp -flto -fPIC -fshort-wchar -c main.c -o short.o && (%okl-cc -O2 -fopenmp -flto short.o kernels.o inner.o -o apart 2>&1 || true) | FileCheck --check-prefix=APART %s
// APART: warning: loop chains stay as they are that call functions of other files: short.o, kernels.o, inner.o cannot be one module: {{.*}}wchar_size
//
//--- kernels.h
#ifdef __cplusplus
#define restrict __restrict
#endif
void inner(int n, const double *restrict a, double *restrict b);
void smooth(int n, const double *restrict a, double *restrict b);
void take(int n, const double *restrict a, double *restrict b);

//--- kernels.c
#include "kernels.h"
static double half(double x) { return 0.5 * x; }
void smooth(int n, const double *restrict a, double *restrict b) { inner(n, a, b); }
void take(int n, const double *restrict a, double *restrict b) {
#pragma omplc for domain(1:n) with(i) read a{(i)}, write b{(i)}
#pragma omp parallel for
  for (int i = 1; i <= n; i++) b[i] = half(a[i]);
}

//--- inner.c
#include "kernels.h"
static double half(double x) { return 0.25 * x; }
void inner(int n, const double *restrict a, double *restrict b) {
#pragma omplc for domain(1:n) with(i) read a{(i-1),(i+1)}, write b{(i)}
#pragma omp parallel for
  for (int i = 1; i <= n; i++) b[i] = half(a[i-1] + a[i+1]);
}

//--- other.c
#include "kernels.h"
void smooth(int n, const double *restrict a, double *restrict b) {
  for (int i = 1; i <= n; i++) b[i] = a[i];
}
void take(int n, const double *restrict a, double *restrict b) { smooth(n, a, b); }

//--- main.c
#include <stdio.h>
#include "kernels.h"
static double a[1002], b[1002], c[1002];
static void both(int n, double *restrict a, double *restrict b,
                 double *restrict c) {
#pragma omplc loopchain schedule(fuse(), parallel) local(b)
  {
    smooth(n, a, b);
    take(n, b, c);
  }
}
int main(void) {
  for (int i = 0; i < 1002; i++) a[i] = i % 7;
  for (int t = 0; t < 10; t++) {
    both(1000, a, b, c);
    both(1000, c, b, a);
  }
  double sum = 0;
  for (int i = 0; i < 1002; i++) sum += a[i] * i;
  printf("%a\n", sum);
}

//--- wrong.c
#include "kernels.h"
int main(int n, char **v) { static double a[9], b[9];
#pragma omplc loopchain schedule(parallel)
  {
    inner(n, a, b);
  }
#pragma omplc loopchain schedule(fuse((0),(0)), parallel)
  {
    inner(n, a, b);
    inner(n, b, a);
  }
}

//--- missing.c
void missing(double *a);
int main(void) { static double a[9];
#pragma omplc loopchain schedule()
  {
    missing(a);
  }
}
static void threads(double *a) {
#pragma omp parallel for
  for (int i = 0; i < 9; i++) a[i] = 1;
}
void directive(double *a) {
#pragma omplc loopchain schedule()
  {
#pragma omplc for domain(0:8)
    threads(a);
  }
}
