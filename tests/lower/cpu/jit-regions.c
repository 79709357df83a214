// Regions are left for the program to compile once more: with numbers that they get, and variables that keep their values while
// they run. What the region writes, what it may write by another name, and what others may write that it waits for, are
// not among these. A region that cannot be left is told of.
//
// RUN: clang-22 -O3 -fopenmp -g -fpass-plugin=%plugin -mllvm -okl-target=cpu -mllvm -okl-jit -Rpass=okl -Rpass-missed=okl -S -emit-llvm %s -o %t.ll 2> %t.remarks
// RUN: FileCheck %s < %t.ll
// RUN: FileCheck --check-prefix=REMARK %s < %t.remarks
// RUN: clang-22 -O3 -fopenmp -fpass-plugin=%plugin -mllvm -okl-jit -Rpass=okl -c %s -o /dev/null 2>&1 | FileCheck --check-prefix=RANKS %s
// Without the option nothing is left.
// RUN: clang-22 -O3 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=cpu -S -emit-llvm %s -o - | FileCheck --check-prefix=WITHOUT --implicit-check-not=okl.jit %s
// RUN: clang-22 -O3 -fopenmp -fveclib=libmvec -fpass-plugin=%plugin -mllvm -okl-target=cpu -mllvm -okl-jit -Rpass-missed=okl -c %s -o /dev/null 2>&1 | FileCheck --check-prefix=VECTORS %s
#include <math.h>
#include <stdlib.h>

static int radius;
int width;
double scale;
static _Thread_local double own;
extern int unknown(int);
extern void look(int *);

void set(int of_all, double of_one) { radius = of_all, own = of_one; }

// An `int` of all files while `double`s are stored, the file's own variable, a variable and a number of the function's; not
// a `double` that others may have the address of.
// CHECK: @okl.jit.values = private constant [4 x {{.*}}] [{{.*}} i64 0, i64 4, ptr @width {{.*}} i64 0, i64 4, ptr @radius {{.*}} { i64 1, i64 {{[0-9]+}}, i64 0, i64 8, ptr null }{{.*}} { i64 2, i64 {{[0-9]+}}, i64 0, i64 8, ptr null }
// REMARK-DAG: jit-regions.c:[[# @LINE + 3]]:1: remark: region may be compiled once more at run time
// RANKS-DAG: jit-regions.c:[[# @LINE + 2]]:1: remark: region may be compiled once more at run time [
void smooth(double *a, double *b, double factor, long first) {
#pragma omp parallel for firstprivate(first)
  for (int i = width; i < 1000; i++) {
    double sum = factor;
    for (int k = first; k < radius; k++)
      sum += scale * a[i + k];
    b[i] = sum;
  }
}

// CHECK: @okl.jit.values{{.*}} = private constant [1 x {{.*}}] [{{.*}} { i64 1, i64 {{[0-9]+}}, i64 0, i64 4, ptr null }
// Its variable has this value, whoever has been shown it before: `int`s are not stored.
void shown(double *b, int n) {
  int steps = n;
  long count = 0;
  look(&steps);
#pragma omp parallel for reduction(+ : count)
  for (int i = 0; i < 1000; i++) {
    b[i] = steps;
    count += steps;
  }
  b[0] = count;
}

// Others may write these, and the region waits for them, or for what is not known; it writes them itself.
// CHECK-NOT: @okl.jit.values{{[.0-9]*}} =
void waits(double *b) {
  int limit = 3;
  look(&limit);
#pragma omp parallel
#pragma omp critical
  b[limit] = width + radius;
#pragma omp parallel
  b[limit] = unknown(0) + width + radius;
#pragma omp parallel
  {
#pragma omp single
    width = 1, radius = 2, limit++;
    b[1] = width + radius + limit;
  }
}

// The code asks the program where a variable of the thread is.
// REMARK-DAG: jit-regions.c:[[# @LINE + 2]]:1: remark: region may be compiled once more at run time
void of_thread(double *b) {
#pragma omp parallel
  b[0] = own;
}

// A version calls the library's functions for one number.
// VECTORS: jit-regions.c:[[# @LINE + 2]]:1: remark: region is not compiled once more at run time: it calls a library's functions for several numbers (-fveclib)
void sines(double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++)
    b[i] = sin(a[i]);
}

// REMARK-DAG: jit-regions.c:[[# @LINE + 2]]:1: remark: region is not compiled once more at run time: its threads are teams
void of_teams(double *b) {
#pragma omp teams
  b[0] = 2;
}

static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

// REMARK-DAG: jit-regions.c:[[# @LINE + 2]]:1: remark: region is not compiled once more at run time: it takes addresses of functions
void sorts(int *a, int n) {
#pragma omp parallel
  qsort(a, n, sizeof *a, by_value);
}

// What ranks begin regions with, functions' addresses among that, is a variable of the program.
// RANKS-DAG: jit-regions.c:[[# @LINE + 2]]:1: remark: region may be compiled once more at run time [-Rpass=okl]
void inside(double *b) {
#pragma omp parallel num_threads(2)
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 1000; i++)
    b[i] += 1;
}

// CHECK-LABEL: define {{.*}} @smooth(
// CHECK:         [[VERSION:%[0-9]+]] = call ptr @okl_cpu_version_v2(ptr {{.*}}[[CALL:%[0-9]+]], ptr {{.*}}@okl.jit.code, ptr {{.*}}@smooth.omp_outlined, ptr
// CHECK:         call {{.*}} @__kmpc_fork_call({{.*}}, ptr {{(nonnull )?}}[[VERSION]],
// CHECK-NEXT:    call void @okl_cpu_ran_v1(ptr {{.*}}[[CALL]])
// CHECK-LABEL: define {{.*}} @of_thread(
// CHECK:         call ptr @okl_cpu_version_v2(
// CHECK-LABEL: define internal {{.*}}ptr @okl.jit.own.own()
// CHECK:         [[OWN:%[0-9]+]] = {{.*}}call {{.*}}ptr @llvm.threadlocal.address.p0(ptr {{.*}}@own)
// CHECK-NEXT:    ret ptr [[OWN]]
// WITHOUT-LABEL: define {{.*}} @smooth(
