// A critical section which an exception may not leave: the program ends then. It is known where the section ends, and one in
// each short turn has rank 0 run the region.
// RUN: clang++-22 -O2 -g -fopenmp -fpass-plugin=%plugin -Rpass-missed=okl -S -emit-llvm %s -o /dev/null 2>&1 | FileCheck %s
#include <map>
std::map<long, int> places;
double *a;

// CHECK: at-once-exceptions.cpp:[[@LINE+7]]:1: remark: critical section keeps its lock: it
// CHECK-NOT: way that is not understood
// CHECK: at-once-exceptions.cpp:[[@LINE+3]]:1: remark: rank 0 runs this region by itself, on as many threads: its critical sections or locks
// CHECK-NOT: way that is not understood
void number(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
#pragma omp critical
    places[i * 37L % 1000] = i;
    a[i] = 1;
  }
}
