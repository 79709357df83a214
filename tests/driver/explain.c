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
// RUN: cd %t.d && (%okl-cc --okl-explain=run.json -O2 -fopenmp -c first.c second.c) 2>&1 | sed -n '/^okl:/,$p' | FileCheck --check-prefix=LAST --match-full-lines %s
// LAST: okl: what cost most when the program ran comes first:
// LAST-NEXT: second.c:4: pages of this region are tracked: it reads from an object that is not known before the loop (second.c:5) [Tracked]
// LAST-NEXT:     Give the loop one array (rows at one distance, a[i * n + j]) instead of pointers that it loads itself.
// LAST-NEXT:     In the run: 24 times, 1.50 s in okl (75 % of the ranks' time), 0.04 s of it waiting; 610 page faults; 2.5 MB moved as pages.
// LAST-NEXT: second.c:4: parallel region distributed over MPI ranks [Distributed]
// LAST-NEXT: first.c:6: parallel region distributed over MPI ranks [Distributed]
// LAST-NEXT:     In the run: 3 times, 0.20 s in okl (10 % of the ranks' time), 0.19 s of it waiting.
// LAST-NEXT:     Ranks wait for each other: deal the work out evenly, in smaller chunks, and put less of it between barriers.
// LAST-NEXT: first.c:6: region declares all its accesses ({{[0-9]+}} sections) [Declared]
// LAST-NEXT: first.c:11: parallel region runs on rank 0 alone: it calls rand, which keeps state in the C library (first.c:12) [Declined]
// LAST-NEXT:     Call a variant that keeps its state in the caller (rand_r, strtok_r, localtime_r), or call it before the region.
// RUN: cd %t.d && (%okl-cc --okl-explain=first.c -c second.c; %okl-cc --okl-explain=none.json -c second.c; echo "ends with $?") 2>&1 | FileCheck --check-prefix=NONE --match-full-lines %s
// NONE: okl-cc: error: first.c is not what a program of this version of okl writes with OKL_STATS=FILE.json
// NONE-NEXT: okl-cc: error: cannot read none.json: No such file or directory (os error 2)
// NONE-NEXT: ends with 1

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
double ****c;

void scale(void) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) c[i][3][4][5] *= 2;
}

//--- nothing.c
int nothing;

//--- broken.c
nothing

//--- run.json
{"okl":1,"ns":1000000000,"ranks":[{},{}],"regions":[
{"at":"first.c:6","runs":3,"ns in okl":200000000,"ns waiting":190000000,"faults":0,"sections":0,"section bytes":0,"pages":0,"page bytes":0,"diffs":0,"diff bytes":0,"control messages":1,"control bytes":5,"messages":2,"message bytes":9},
{"at":"/home/me/second.c:4","runs":24,"ns in okl":1500000000,"ns waiting":40000000,"faults":610,"sections":0,"section bytes":0,"pages":600,"page bytes":2400000,"diffs":10,"diff bytes":100000,"control messages":1,"control bytes":5,"messages":2,"message bytes":9}],
"lines":[]}
