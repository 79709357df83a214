// Critical sections that take no lock, those that keep it, and why.
// RUN: clang-22 -O0 -fopenmp -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck %s
// RUN: clang-22 -O0 -gline-tables-only -fopenmp -fpass-plugin=%plugin -Rpass=okl -Rpass-missed=okl -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: clang-22 -O2 -gline-tables-only -fopenmp -fpass-plugin=%plugin -Rpass=okl -Rpass-missed=okl -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=REMARK
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX(a, b) ((a) > (b) ? (a) : (b))

enum { BINS = 100 };
int hist[BINS];
static int chosen;
static double sum, big, product = 1;
static double hidden;
void elsewhere(void);
void also_elsewhere(double x);

// The merging of what each thread counted.
// CHECK-LABEL: define internal void @merge.omp_outlined
// CHECK-NOT: okl_mpi_kmpc_critical
// CHECK: call void @okl_mpi_critical_updates
// CHECK: call void @okl_mpi_atomic_update(ptr %{{.*}}, i32 1, i64 %{{.*}}, i32 4)
// CHECK: call void @okl_mpi_end_critical_updates
// CHECK-NOT: okl_mpi_kmpc_critical
// REMARK-DAG: criticals.c:[[@LINE+5]]:1: remark: critical section takes no lock: its update is collected until the next synchronisation
void merge(const int *key, int n) {
#pragma omp parallel
  {
    int local[BINS] = {0};
#pragma omp critical
    for (int b = 0; b < BINS; b++) hist[b] += local[b];
  }
}

// Larger and smaller: a comparison and a branch or a choice, and what is called.
// CHECK-LABEL: define internal void @extremes.omp_outlined
// CHECK: call void @okl_mpi_atomic_update(ptr @big, i32 15, i64 %{{.*}}, i32 8)
// CHECK: call void @okl_mpi_atomic_update(ptr %{{.*}}, i32 17, i64 %{{.*}}, i32 8)
// CHECK: call void @okl_mpi_atomic_update(ptr %{{.*}}, i32 14, i64 %{{.*}}, i32 8)
// CHECK: call void @okl_mpi_atomic_update(ptr @chosen, i32 8, i64 %{{.*}}, i32 4)
// REMARK-DAG: criticals.c:[[@LINE+5]]:1: remark: critical section takes no lock: its updates are collected until the next synchronisation
double extremes(const double *x, int n) {
  double most = 0, least = 0;
#pragma omp parallel for
  for (int i = 0; i < n; i++)
#pragma omp critical(extremes)
  {
    if (i * 0.5 > big) big = i * 0.5;
    most = MAX(most, x[i]);
    least = fmin(least, x[i]);
    if (i < chosen) chosen = i;
  }
  return most - least;
}

// REMARK-DAG: criticals.c:[[@LINE+4]]:1: remark: critical section keeps its lock: it does something else to big than add, combine bits, or take the larger or smaller
void where(const double *x, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
#pragma omp critical
    if (x[i] > big) {
      big = x[i];
      chosen = i;
    }
}

// REMARK-DAG: criticals.c:[[@LINE+5]]:1: remark: critical section keeps its lock: it does something else to product than add, combine bits, or take the larger or smaller
// REMARK-DAG: criticals.c:[[@LINE+6]]:1: remark: critical section keeps its lock: it reads what a critical section of its name may update, as far as is known
void dependent(const double *x, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
#pragma omp critical
    product *= x[i];
#pragma omp critical(dependent)
    {
      sum += i;
      big += sum;
    }
  }
}

// One that keeps its lock does not hinder others of its name, unless it accesses the same.
// REMARK-DAG: criticals.c:[[@LINE+6]]:1: remark: critical section keeps its lock: it calls printf
// REMARK-DAG: criticals.c:[[@LINE+7]]:1: remark: critical section takes no lock: its update is collected
// REMARK-DAG: criticals.c:[[@LINE+8]]:1: remark: critical section keeps its lock: it accesses what a critical section of the same name that keeps its lock accesses
void neighbours(double x) {
#pragma omp parallel
  {
#pragma omp critical(prints)
    printf("%g\n", x);
#pragma omp critical(prints)
    hidden += x;
#pragma omp critical(prints_it)
    sum += x;
#pragma omp critical(prints_it)
    printf("%g\n", sum);
  }
}

// REMARK-DAG: criticals.c:[[@LINE+5]]:1: remark: critical section keeps its lock: it may update an object in different ways, as far as is known
void pointers(int *a, int *b) {
#pragma omp parallel
  {
    int x = 3;
#pragma omp critical(pointers)
    {
      a[0] += x;
      b[0] ^= x;
    }
  }
}

// The sections of one region say nothing of those of another.
// REMARK-DAG: criticals.c:[[@LINE+4]]:1: remark: critical section takes no lock: its update is collected
// REMARK-DAG: criticals.c:[[@LINE+7]]:1: remark: critical section keeps its lock: it is in a region that calls elsewhere, which may have critical sections too
void unknown(double x) {
#pragma omp parallel
#pragma omp critical(unknown)
  sum += x;
#pragma omp parallel
  {
#pragma omp critical(unknown)
    sum += x;
    elsewhere();
  }
}

// REMARK-DAG: criticals.c:[[@LINE+2]]:1: remark: critical section keeps its lock: it may be reached by calls of orphan in another file
void orphan(double x) {
#pragma omp critical(orphan)
  hidden += x;
}
void calls_orphan(void) {
#pragma omp parallel
  orphan(1);
}

// An old value that is looked at before the next barrier, and one behind it.
// REMARK-DAG: criticals.c:[[@LINE+6]]:1: remark: critical section keeps its lock: it updates what is accessed outside critical sections of its name too, with no barrier between
// REMARK-DAG: criticals.c:[[@LINE+8]]:1: remark: critical section takes no lock: its update is collected
int looks(int n) {
  int early = 0, late = 0, enough = 0;
#pragma omp parallel
  {
#pragma omp critical(looks)
    early++;
    if (early > n) enough = 1;
#pragma omp critical(looks)
    late++;
#pragma omp barrier
    if (late > n) enough = 1;
  }
  return enough;
}

// What another function accesses is separated by a barrier, which may stand in a function too, or is not.
// REMARK-DAG: criticals.c:[[@LINE+11]]:1: remark: critical section takes no lock: its update is collected
// REMARK-DAG: criticals.c:[[@LINE+18]]:1: remark: critical section keeps its lock: it updates what is accessed outside critical sections of its name too, with no barrier between
static int counted, also_counted, seen;
static void look(void) { seen = counted; }
static void look_too(void) { seen = also_counted; }
static void meet(void) {
#pragma omp barrier
}
void separated(void) {
#pragma omp parallel
  {
#pragma omp critical(separated)
    counted++;
    meet();
    look();
  }
#pragma omp parallel
  {
    if (seen) meet();
#pragma omp critical(joined)
    also_counted++;
    if (counted) meet();
    look_too();
  }
}
