// A configure script of autoconf finds OpenMP and a C library's functions with nothing but CC.
//
// REQUIRES: autoconf
// RUN: split-file %s %t.d
// RUN: cd %t.d && autoconf && (./configure CC=%okl-cc >log 2>&1 || (cat log; false)) && FileCheck --check-prefix=FOUND %s <log
// FOUND: checking whether the C compiler works... yes
// FOUND: checking for {{.*}} option to support OpenMP... -fopenmp
// FOUND: checking for gettimeofday... yes
// FOUND: checking for no_such_function... no
// RUN: make -C %t.d && %launch -n 2 %t.d/prog | FileCheck %s
// CHECK: 2 threads, sum 5050

//--- configure.ac
AC_INIT([sums], [1])
AC_PROG_CC
AC_OPENMP
AC_CHECK_FUNCS([gettimeofday no_such_function])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT

//--- Makefile.in
CC = @CC@
CFLAGS = @CFLAGS@ @OPENMP_CFLAGS@

prog: main.o sum.o
	$(CC) main.o sum.o -o $@

//--- sum.c
#include <omp.h>

int sum(int n, int *threads) {
  int total = 0;
#pragma omp parallel for reduction(+ : total)
  for (int i = 1; i <= n; i++) {
    total += i;
    if (i == n) *threads = omp_get_num_threads();
  }
  return total;
}

//--- main.c
#include <stdio.h>

int sum(int n, int *threads);

int main(void) {
  int threads = 0;
  int total = sum(100, &threads);
  printf("%d threads, sum %d\n", threads, total);
  return 0;
}
