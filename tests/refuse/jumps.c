// A jump out of a region is refused; one inside it makes the region a team of one.
// RUN: not clang-22 -O1 -fopenmp -gline-tables-only -fpass-plugin=%plugin -c %s -o %t.o 2>&1 | FileCheck %s
#include <setjmp.h>
jmp_buf place;

static void leave(void) { longjmp(place, 1); }

// CHECK: jumps.c:[[# @LINE + 3]]:1: error: okl: a jump leaves this parallel region: it calls longjmp, which leaves the region's frames ({{.*}}jumps.c:[[# @LINE - 2]])
void out(void) {
  if (setjmp(place) == 0)
#pragma omp parallel
    leave();
}

// CHECK: jumps.c:[[# @LINE + 2]]:1: warning: parallel region runs on rank 0 alone: it calls longjmp
void inside(void) {
#pragma omp parallel
  if (setjmp(place) == 0) leave();
}
