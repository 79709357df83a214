// What only writes numbers and constant text to a standard stream, or ends the program, accesses nothing that
// threads share; other output may.
// RUN: clang-22 -O2 -g -fopenmp -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-accesses>' -disable-output %t.ll 2>&1 | FileCheck %s
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 600 };
double x[N];
char name[20];

// CHECK: region at {{.*}}messages.c:[[@LINE+3]]: complete
// CHECK-NEXT: direct stderr+0, 8 bytes
void complains(void) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    if (x[i] < 0) {
      printf("%d: %g %s\n", i, x[i], "is negative");
      fprintf(stderr, "giving up\n");
      fputs("really\n", stderr);
      exit(1);
    }
    assert(x[i] < 100);
    x[i] = 1;
  }
}

// CHECK: region at {{.*}}messages.c:[[@LINE+2]]: tracked, it calls puts
void names(void) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    if (x[i] < 0)
      printf("%s\n", name);
    x[i] = 1;
  }
}

__attribute__((noinline)) static void complain(const char *title, int i) {
  char text[40];
  sprintf(text, "of %d", i);
  printf("%s %s\n", title, text);
  exit(1);
}

__attribute__((noinline)) static void note(const char *title, int i) {
  if (x[i] > 99)
    printf("%s\n", title);
}

// So is text that is constant wherever a function is called.
// CHECK: region at {{.*}}messages.c:[[@LINE+3]]: complete
// CHECK-NOT: tracked
void titles(void) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    if (x[i] < 0)
      complain("negative", i);
    note(i > 3 ? "large" : "at the start", i);
    x[i] = 1;
  }
}
