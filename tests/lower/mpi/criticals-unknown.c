// Critical sections keep their lock where code that is not known may have sections of the same name: functions of
// other files, where a section reads or writes more than variables of its own function, and functions that the
// C library calls back through a pointer.
// RUN: clang-22 -O2 -g -fopenmp -fpass-plugin=%plugin -Rpass=okl -Rpass-missed=okl -c %s -o %t.o 2>&1 | FileCheck %s
#include <stdlib.h>

long counter;
extern long moved, kept[2000];
void move(int by);
int (*volatile chosen)(const void *, const void *);

int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

// CHECK-DAG: criticals-unknown.c:[[#@LINE+6]]:{{[0-9]+}}: remark: critical section keeps its lock: it is in a region that calls qsort, which may have critical sections too
void sorts(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    int values[3] = {i % 3, i % 5, 1};
    qsort(values, 3, sizeof(int), chosen);
#pragma omp critical(counter)
    counter += 1;
  }
}

// CHECK-DAG: criticals-unknown.c:[[#@LINE+6]]:{{[0-9]+}}: remark: critical section takes no lock
void sorts_by_value(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    int values[3] = {i % 3, i % 5, 1};
    qsort(values, 3, sizeof(int), by_value);
#pragma omp critical(other)
    counter += 1;
  }
}

// CHECK-DAG: criticals-unknown.c:[[#@LINE+6]]:{{[0-9]+}}: remark: critical section keeps its lock: it is in a region that calls move, which may have critical sections too
long sums(int n) {
  long sum = 0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    move(1);
#pragma omp critical(moved)
    sum += moved + kept[1000];
  }
  return sum;
}
