// `--okl-explain`: what costs most first, each with what to change; the rest is as ever.
//
// RUN: split-file %s %t.d
// RUN: cd %t.d && (%okl-cc --okl-explain -O2 -fopenmp -c first.c second.c; echo "ends with $?") 2>text && FileCheck --check-prefix=WARNING %s <text && sed -n '/^okl:/,$p' text | FileCheck --match-full-lines %s
// WARNING: first.c:11:1: warning: parallel region runs on rank 0 alone: it calls rand
// CHECK: okl: what costs most comes first:
// CHECK-NEXT: first.c:11: parallel region runs on rank 0 alone: it calls rand, which keeps state in the C library (first.c:12) [Declined]
// CHECK-NEXT:     Call a variant that keeps its state in the caller (rand_r, strtok_r, localtime_r), or call it before the region.
// CHECK-NEXT: second.c:4: pages of this region are tracked: it reads from an object that is not known before the loop (second.c:5) [Tracked]
// CHECK-NEXT:     Give the loop one array (rows at one distance, a[i * n + j]) instead of pointers that it loads itself.
// CHECK-NEXT: first.c:6: parallel region distributed over MPI ranks [Distributed]
// CHECK-NEXT: second.c:4: parallel region distributed over MPI ranks [Distributed]
// CHECK-NEXT: first.c:6: region declares all its accesses ({{[0-9]+}} sections) [Declared]
//
// RUN: cd %t.d && %okl-cc --okl-explain -c nothing.c 2>&1 | FileCheck --check-prefix=NOTHING --match-full-lines %s
// NOTHING: okl: nothing to explain: no parallel regions or loops of OP2
// RUN: cd %t.d && (%okl-cc --okl-explain -fopenmp -c second.c 2>&1) | FileCheck --check-prefix=LEVEL --match-full-lines %s
// LEVEL: okl: without -O1 or more, nothing is known of what regions access: give -O2
// RUN: cd %t.d && (%okl-cc --okl-explain -fopenmp -c broken.c; echo "ends with $?") 2>&1 | FileCheck --check-prefix=BROKEN %s
// BROKEN: broken.c:1:1: error:
// BROKEN-NOT: okl:
// BROKEN: ends with 1
// RUN: cd %t.d && (%okl-cc --okl-explain -fsave-optimization-record -c second.c; echo "ends with $?") 2>&1 | FileCheck --check-prefix=RECORD --match-full-lines %s
// RECORD: okl-cc: error: --okl-explain does not go with the compiler's own optimization record
// RECORD-NEXT: ends with 1

//--- first.c
#include <stdlib.h>
double a[100], b[100];
int n;

void add(void) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) a[i] += b[i];
}

void draw(void) {
#pragma omp parallel
  n += rand();
}

//--- second.c
double ***c;

void scale(void) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) c[i][3][4] *= 2;
}

//--- nothing.c
int nothing;

//--- broken.c
nothing
