// Regions that run as a team of one, with the reason, the place, and the remark; strict makes each
// an error.
// RUN: clang-22 -O1 -fopenmp -gline-tables-only -fpass-plugin=%plugin -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: clang-22 -O1 -fopenmp -Rpass=okl -Rpass-missed=okl -fpass-plugin=%plugin -c %s -o %t.o 2>&1 | FileCheck --check-prefix=REMARK %s
// RUN: not clang-22 -O1 -fopenmp -gline-tables-only -fpass-plugin=%plugin -mllvm -okl-strict -c %s -o %t.o 2>&1 | FileCheck --check-prefix=STRICT %s
// RUN: clang-22 -O0 -fopenmp -fpass-plugin=%plugin -c %s -o %t.o 2>&1 | FileCheck --check-prefix=NODEBUG %s
#include <stdio.h>
#include <stdlib.h>

static int helper(void) { return rand(); }

// CHECK: alone.c:[[# @LINE + 4]]:1: warning: parallel region runs on rank 0 alone: it calls rand, which keeps state in the C library ({{.*}}alone.c:[[# @LINE - 2]])
// REMARK: alone.c:[[# @LINE + 3]]:1: remark: parallel region runs on rank 0 alone: it calls rand, which keeps state in the C library ({{.*}}) [-Rpass-missed=okl]
// STRICT: error: parallel region runs on rank 0 alone: it calls rand, which keeps state in the C library
void state(int *a) {
#pragma omp parallel
  a[0] = helper();
}

// CHECK: alone.c:[[# @LINE + 3]]:1: warning: parallel region runs on rank 0 alone: it calls fgets on a file that is open in one process only ({{.*}}alone.c:[[# @LINE + 7]])
// NODEBUG: warning: parallel region runs on rank 0 alone: it calls fgets on a file that is open in one process only (in function file)
void file(FILE *f, char *text) {
#pragma omp parallel
  {
    printf("fine\n");
    fprintf(stderr, "fine\n");
    fgets(text, 10, f);
  }
}

// CHECK: alone.c:[[# @LINE + 2]]:1: warning: parallel region runs on rank 0 alone: it calls {{getc|getchar}}, which reads the standard input
void input(int *a) {
#pragma omp parallel
  a[0] = getchar();
}

// CHECK: alone.c:[[# @LINE + 2]]:1: warning: parallel region runs on rank 0 alone: it executes inline assembly with effects on memory
void assembly(int *a) {
#pragma omp parallel
  __asm__ volatile("lock; incl %0" : "+m"(*a));
}

// CHECK-NOT: warning:
// REMARK: remark: parallel region distributed over MPI ranks [-Rpass=okl]
int fine(int *a) {
#pragma omp parallel
  {
    unsigned low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    __asm__ volatile("" ::: "memory");
    a[low % 2] = high;
  }
  return rand();
}
