// What clang does with its options, the driver does: from preprocessing to a link of objects.
//
// RUN: split-file %s %t.d
//
// Preprocessing, dependency files, assembly; nothing is said about what is not used.
// RUN: cd %t.d && %okl-cc -Werror -fopenmp -E main.c | FileCheck --check-prefix=TEXT %s
// TEXT: int main(void) {
// RUN: cd %t.d && %okl-cc -Werror -MM main.c | FileCheck --check-prefix=NEEDS %s
// NEEDS: main.o: main.c sum.h
// RUN: cd %t.d && %okl-cc -Werror -O1 -fopenmp -MD -MF main.d -c main.c -o main.o && FileCheck --check-prefix=NEEDS %s <main.d
// RUN: cd %t.d && %okl-cc -Werror -O1 -fopenmp -S sum.c -o - | FileCheck --check-prefix=CODE %s
// CODE: okl_mpi_fork
// RUN: cd %t.d && %okl-cc -Werror -fsyntax-only -fopenmp sum.c && %okl-cc -Werror --okl-strict --okl-target=mpi -c nothing.s -o nothing.o
// RUN: cd %t.d && %okl-cc -Werror sum.h -o sum.h.pch
// RUN: cd %t.d && %okl-cc -Werror -xc -E -v - </dev/null 2>&1 | FileCheck --check-prefix=SEARCH %s
// SEARCH: #include <...> search starts here:
// RUN: %okl-cc -dumpversion | FileCheck --check-prefix=VERSION %s
// VERSION: 22.
// RUN: [ "$(%okl-cc -print-file-name=crt1.o)" = "$(clang-22 -print-file-name=crt1.o)" ]
// RUN: [ "$(%okl-cc --version)" = "$(clang-22 --version)" ]
// RUN: (%okl-cc -### -c %t.d/sum.c 2>&1) | FileCheck --check-prefix=JOBS %s
// JOBS: "-cc1" {{.*}} "-fpass-plugin={{.*}}libokl_pass.so"
//
// A link of objects, without -fopenmp, with a library behind them; many inputs; a response file; `--`.
// RUN: cd %t.d && %okl-cc -Werror -O1 -fopenmp -c sum.c && ar rc libsum.a sum.o && %okl-cc -Werror main.o -L. -lsum -o linked && %launch -n 2 ./linked | FileCheck %s
// RUN: cd %t.d && %okl-cc -Werror -O1 -fopenmp main.c sum.c -o inputs && %launch -n 2 ./inputs | FileCheck %s
// RUN: cd %t.d && %okl-cc @command --okl-show | FileCheck --check-prefix=RESPONSE %s && %okl-cc @command && %launch -n 2 ./'a program' | FileCheck %s
// RESPONSE: {{ @command --start-no-unused-arguments -Wl,}}
// RUN: cd %t.d && echo '--okl-target=cpu' >cpu && %okl-cc @command @cpu --okl-show | FileCheck --check-prefix=EXPANDED %s
// EXPANDED: -okl-target=cpu {{.*}} -O1 -fopenmp main.c sum.c -o 'a program' --start-no-unused-arguments -Wl,
// RUN: cd %t.d && cp sum.c ./-sum.c && %okl-cc -fopenmp -o dashes main.c -- -sum.c && %launch -n 2 ./dashes | FileCheck %s
// CHECK: 2 threads, sum 5050
//
// Objects that are put together stay objects.
// RUN: cd %t.d && %okl-cc -Werror -r main.o sum.o -o both.o && %okl-cc both.o -o both && %launch -n 2 ./both | FileCheck %s
//
// What needs no run-time library has none, though it calls functions that the library has, too.
// RUN: cd %t.d && %okl-cc -Werror nothing.c -o nothing && readelf -d nothing | FileCheck --check-prefix=NONE %s && ./nothing
// RUN: cd %t.d && %okl-cc -Werror -fopenmp nothing.c -static -### 2>&1 | FileCheck --check-prefix=NONE %s
// NONE-NOT: okl_mpi
// NONE-NOT: okl_op2
// RUN: cd %t.d && readelf -d linked | FileCheck --check-prefix=NEEDED %s
// NEEDED: [libokl_mpi.so]
// NEEDED-NOT: [libokl_op2.so]
// These are the library's when the program runs.
// RUN: cd %t.d && LD_DEBUG=bindings ./linked 2>&1 | grep 'binding file ./linked ' | FileCheck --check-prefix=BOUND %s
// BOUND-DAG: libokl_mpi.so [0]: normal symbol `malloc'
// BOUND-DAG: libokl_mpi.so [0]: normal symbol `getenv'
//
// Errors are clang's, and so is what it ends with; the user's own unused options are named.
// RUN: (%okl-cc; echo "ends with $?") 2>&1 | FileCheck --check-prefix=INPUTS %s
// INPUTS: error: no input files
// INPUTS: ends with 1
// RUN: (%okl-cc -v; echo "ends with $?") 2>&1 | FileCheck --check-prefix=VERBOSE %s
// VERBOSE-NOT: ld
// VERBOSE: ends with 0
// RUN: cd %t.d && (%okl-cc -c nothing.s -O2 -o nothing.o 2>&1) | FileCheck --check-prefix=UNUSED %s
// UNUSED: warning: argument unused during compilation: '-O2' [-Wunused-command-line-argument]
// UNUSED-NOT: warning

//--- sum.h
int sum(int n, int *threads);

//--- sum.c
#include "sum.h"
#include <omp.h>
#include <stdlib.h>

int sum(int n, int *threads) {
  int total = getenv("NO_SUCH") ? 1 : 0;
  free(malloc(100 * sizeof *threads + total));
#pragma omp parallel for reduction(+ : total)
  for (int i = 1; i <= n; i++) {
    total += i;
    if (i == n) *threads = omp_get_num_threads();
  }
  return total;
}

//--- main.c
#include "sum.h"
#include <stdio.h>

int main(void) {
  int threads = 0;
  int total = sum(100, &threads);
  printf("%d threads, sum %d\n", threads, total);
  return 0;
}

//--- nothing.c
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  int *numbers = malloc(100);
  printf("%p\n", (void *)numbers);
  free(numbers);
  return getenv("HOME") == NULL;
}

//--- nothing.s
nop

//--- command
-O1 -fopenmp main.c
sum.c -o 'a program'
