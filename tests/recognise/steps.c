// The steps of regions: what barriers separate, in the body and in functions that it calls.
// RUN: clang-22 -O0 -fopenmp -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-loops>' -disable-output %t.ll 2>&1 | FileCheck %s

#include <math.h>
#include <stdlib.h>

int n, a[100], b[100], total;
void unknown(void);

// What has no barrier between is one step, whoever runs it.
// CHECK-LABEL: parallel region in parts
// CHECK:      step 0: static i32 loop 0 to 99, thread 0, one thread, a thread of a number, each thread; barrier, step 1
// CHECK-NEXT: step 1: one thread, each thread; barrier, step 2
// CHECK-NEXT: step 2: each thread; join
// Behind a region come the loops that its team shares: what they run, over what, and what an iteration accesses.
// CHECK-NEXT: worksharing loop in parts
// CHECK-NEXT:   body in parts.omp_outlined
// CHECK-NEXT:   static i32 loop 0 to 99{{$}}
// CHECK-NEXT:   write 4 bytes in a at 4 * i
void parts(void) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < 100; i++) a[i] = i;
#pragma omp master
    b[0] = 1;
#pragma omp single nowait
    b[1] = 2;
#pragma omp masked filter(n)
    b[2] = 3;
#pragma omp barrier
#pragma omp single
    b[3] = a[7];
    b[4] = 4;
  }
}

// A loop around barriers makes a graph: the last step leads to the first one.
// CHECK-LABEL: parallel region in time_loop
// CHECK:      steps that do not follow each other in a line
// CHECK:      step 0: static i32 loop 0 to 99, each thread; barrier, step 1; join{{$}}
// CHECK-NEXT: step 1: static i32 loop 0 to 99, each thread; barrier, step 0{{$}}
void time_loop(void) {
#pragma omp parallel
  for (int step = 0; step < n; step++) {
#pragma omp for
    for (int i = 0; i < 100; i++) a[i] = b[i];
#pragma omp for
    for (int i = 0; i < 100; i++) b[i] = a[99 - i];
  }
}

// A barrier that a condition passes by separates nothing.
// CHECK-LABEL: parallel region in conditional
// CHECK:      step 0: each thread; barrier, step 0; join{{$}}
void conditional(void) {
#pragma omp parallel
  {
    a[0] = 1;
    if (n) {
#pragma omp barrier
    }
    b[0] = 2;
  }
}

// Loops and barriers in functions that are called, once for each call.
static void fill(int *to) {
#pragma omp for
  for (int i = 0; i < 50; i++) to[i] = i;
}

// CHECK-LABEL: parallel region in orphaned
// CHECK:      step 0: static i32 loop 0 to 49, each thread; barrier, step 1{{$}}
// CHECK-NEXT: step 1: static i32 loop 0 to 49, each thread; barrier, step 2{{$}}
// CHECK-NEXT: step 2: each thread; join{{$}}
// CHECK-NEXT: worksharing loop in fill
// CHECK-NEXT:   body in fill
// CHECK-NEXT:   static i32 loop 0 to 49{{$}}
// CHECK-NEXT:   write 4 bytes in parameter 0 at 4 * i
// CHECK-NEXT: worksharing loop in fill
void orphaned(void) {
#pragma omp parallel
  {
    fill(a);
    fill(b);
  }
}

static void again(int depth) {
#pragma omp barrier
  if (depth) again(depth - 1);
}

// CHECK-LABEL: parallel region in recursive
// CHECK:      step 0: each thread; barrier, step 1{{$}}
// CHECK-NEXT: step 1: each thread; join{{$}}
// CHECK-NEXT:   unknown: it calls again, which is recursive (in function again)
void recursive(void) {
#pragma omp parallel
  again(n);
}

// What is not known spoils the step it is in.
// CHECK-LABEL: parallel region in not_known
// CHECK:      step 0: static i32 loop 0 to 99, each thread; barrier, step 1{{$}}
// CHECK-NEXT: step 1: each thread; barrier, step 2{{$}}
// CHECK-NEXT:   unknown: it calls unknown, which is not known here (in function not_known)
// CHECK-NEXT: step 2: each thread; join{{$}}
// CHECK-NEXT:   unknown: it calls through a pointer (in function not_known)
void not_known(int (*order)(const void *, const void *)) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < 100; i++) a[i] = sqrt(i);
    unknown();
#pragma omp barrier
    qsort(a, 100, sizeof *a, order);
  }
}

// What does not return, and a copy of what one thread has found.
// CHECK-LABEL: parallel region in leaves
// CHECK:      step 0: dynamic i32 loop 0 to 99, chunks of 1, each thread; barrier, step 1{{$}}
// CHECK-NEXT: step 1: one thread, each thread; barrier, step 2{{$}}
// CHECK-NEXT: step 2: each thread; join{{$}}
void leaves(void) {
  int found;
#pragma omp parallel private(found)
  {
#pragma omp for schedule(dynamic) reduction(+ : total)
    for (int i = 0; i < 100; i++) {
      if (a[i] < 0) abort();
      total += a[i];
    }
#pragma omp single copyprivate(found)
    found = total;
    b[0] = found;
  }
}
