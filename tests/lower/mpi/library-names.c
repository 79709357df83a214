// Functions of the program that have names of the C library are for the program only, unless it is a shared library, or may
// replace them.
// RUN: clang-22 -O0 -fopenmp -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck %s --implicit-check-not='define hidden'
// RUN: clang-22 -O0 -fPIC -fopenmp -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck %s --check-prefix=SHARED --implicit-check-not='define hidden'
// CHECK-DAG: define hidden{{.*}} void @read(
// CHECK-DAG: define{{.*}} ptr @malloc(
// CHECK-DAG: define{{.*}} void @reads(
// CHECK-DAG: define{{.*}} double @y1(
// SHARED: define{{.*}} void @read(
typedef unsigned long size_t;

void read(double *to, int n) { to[n] = 1; }
double y1(double x) { return x; }
void reads(double *to, int n) { to[n] = 1; }
void *malloc(size_t n) { return (void *)n; }

void region(void) {
#pragma omp parallel
  ;
}
