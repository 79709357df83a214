// What all threads write together in a worksharing loop, where one of them reads it is not known where: none of that is what
// another thread writes. Nothing but barriers may order them, each has one share, and what is written does not depend on the
// thread. And functions that can be described only where they are called stand in place of their calls.
// RUN: clang-22 -O2 -g -fopenmp -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-accesses>' -disable-output %t.ll 2>&1 | FileCheck %s
#include <omp.h>

enum { M = 64 };
struct plan { int n; int *order; };

static inline void reorder(double *row, const int *order, int n) {
  for (int j = 0; j < n; j++)
    if (j < order[j]) {
      double other = row[j];
      row[j] = row[order[j]];
      row[order[j]] = other;
    }
  for (int j = 0; j < n; j++) row[j] *= 2;
}

// CHECK: region at {{.*}}by-all.c:[[@LINE+9]]: complete
// CHECK: nest
// CHECK-DAG: read between a
// CHECK-DAG: write marked a
// CHECK-DAG: write a [
// CHECK-DAG: all threads write a {{.*}} at a
// CHECK: region
// CHECK-NOT: all threads write
void rows(double *a, const int *order, int n, int m) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    reorder(a + (long)i * m, order, m);
}

// A thread has several chunks, and may read in one what it has written in another.
void chunks(double *a, const int *order, int n, int m) {
#pragma omp parallel for schedule(static, 2)
  for (int i = 0; i < n; i++)
    reorder(a + (long)i * m, order, m);
}

// Another thread may have been here before.
void locks(double *a, const int *order, int n, int m, int *count) {
#pragma omp parallel
  {
#pragma omp critical
    ++*count;
#pragma omp for
    for (int i = 0; i < n; i++)
      reorder(a + (long)i * m, order, m);
  }
}

// What is written depends on the thread.
void threads(double *a, const int *order, int n, int m) {
#pragma omp parallel
  {
    int own = m - omp_get_thread_num();
#pragma omp for
    for (int i = 0; i < n; i++)
      reorder(a + (long)i * m, order, own);
  }
}

// Not all of it is written.
void some(double *a, const int *order, int n, int m) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    if (order[i] > 0) reorder(a + (long)i * m, order, m);
}

// Many calls: it stays a function, which loads where it reads.
static void planned(const struct plan *p, double *row) {
  const int *order = p->order;
  for (int j = 0; j < p->n; j++)
    if (j < order[j]) {
      double other = row[j];
      row[j] = row[order[j]];
      row[order[j]] = other;
    }
  for (int k = 1; k < p->n; k *= 2)
    for (int b = 0; b < p->n; b += 2 * k)
      for (int j = b; j < b + k; j++) {
        double x = row[j], y = row[j + k], z = x * y + 1;
        row[j] = (x + y) * z;
        row[j + k] = (x - y) / z;
      }
  for (int j = 0; j < p->n; j++) row[j] *= 2;
}

// CHECK: region at {{.*}}by-all.c:[[@LINE+6]]: complete
// CHECK-NOT: tracked
// CHECK: all threads write a {{.*}} at a
// CHECK: region
// CHECK-NOT: tracked
void shared(const struct plan *p, double *a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    planned(p, a + (long)i * p->n);
}

void own(const struct plan *p, double *a, int n) {
#pragma omp parallel
  {
    double row[M];
#pragma omp for
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < M; j++) row[j] = a[(long)i * M + j];
      planned(p, row);
      for (int j = 0; j < M; j++) a[(long)i * M + j] = row[j];
    }
  }
}

void again(const struct plan *p, double *a) {
  planned(p, a);
  planned(p, a + M);
  planned(p, a + 2 * M);
}
