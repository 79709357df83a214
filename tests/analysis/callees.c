// What functions write that a loop calls is looked at: pointers and bounds in variables of the file stay what they are
// where these come to no code that changes them, or store other types only.
// RUN: clang-22 -O2 -g -fopenmp -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-accesses>' -disable-output %t.ll 2>&1 | FileCheck %s
#include <stdio.h>
#include <stdlib.h>

static double (*block)[4];
static int *numbers;
static int extent[2], calls;

__attribute__((noinline)) static void invert(double *to) {
  for (int m = 0; m < 4; m++) to[m] = 1 / to[m];
}

// The pointer is in a variable of which all is known; `extent` is read by others, but is an int.
// CHECK: region at {{.*}}callees.c:[[@LINE+3]]: complete
// CHECK: write block [{{.*}}] of 32 bytes
void doubles(void) {
#pragma omp parallel for
  for (int i = 0; i < extent[0]; i++)
    for (int j = 0; j < extent[1]; j++) invert(block[i * extent[1] + j]);
}

__attribute__((noinline)) static void count(int *to) {
  *to += 1;
}

// What is stored is of the type of the bound, which may be that.
// CHECK: region at {{.*}}callees.c:[[@LINE+2]]: tracked, it writes where cannot be told before the loop
void integers(void) {
#pragma omp parallel for
  for (int i = 0; i < extent[0]; i++)
    for (int j = 0; j < extent[1]; j++) count(&numbers[i * extent[1] + j]);
}

__attribute__((noinline)) static void next(double *to) {
  *to += 1;
  if (to[1] < 0) block++;
}

// The function changes the pointer.
// CHECK: region at {{.*}}callees.c:[[@LINE+2]]: tracked, it writes to an object that is not known before the loop
void pointers(void) {
#pragma omp parallel for
  for (int i = 0; i < extent[0]; i++)
    for (int j = 0; j < 10; j++) next(block[i * 10 + j]);
}

int main(void) {
  if (scanf("%d%d", &extent[0], &extent[1]) != 2) return 1;
  block = malloc(sizeof *block * extent[0] * extent[1]);
  numbers = malloc(sizeof *numbers * extent[0] * extent[1]);
  doubles();
  integers();
  pointers();
}
