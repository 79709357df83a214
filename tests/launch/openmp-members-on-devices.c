// Of structs that are combined a function may read another member than it writes: such loops run on threads, where it cannot be
// known with which byte the variable begins, and others on the device. All give the same.
//
// RUN: for level in -O0 -O2; do %okl-cc $level -g -fopenmp --okl-target=cuda,cpu %s -o %t 2>&1 | grep warning: > %t.said; FileCheck --check-prefix=SAID --implicit-check-not=warning: %s < %t.said && \
// RUN:   for way in cpu cuda-emulated; do OMP_NUM_THREADS=1 OKL_BACKEND=$way %t | FileCheck %s || exit 1; done || exit 1; done
// CHECK: 499501 0 499503 4 5 499506
#include <stdio.h>

struct pair {
  double a, b;
};
#pragma omp declare reduction(both : struct pair : omp_out.a += omp_in.a + omp_in.b, omp_out.b = 0) initializer(omp_priv = (struct pair){0, 0})
#pragma omp declare reduction(other : struct pair : omp_out.a += omp_in.b) initializer(omp_priv = (struct pair){0, 0})
#pragma omp declare reduction(second : struct pair : omp_out.b += omp_in.b) initializer(omp_priv = (struct pair){0, 0})

int main(void) {
  struct pair p = {1, 2}, q = {3, 4}, r = {5, 6};
#pragma omp parallel for reduction(both : p)
  for (int i = 0; i < 1000; i++) p.a += i;
// SAID: [[# @LINE + 1]]:1: warning: this cannot run on a device, so threads run it: it combines values in a way that is not understood
#pragma omp parallel for reduction(other : q)
  for (int i = 0; i < 1000; i++) q.b += i;
// SAID: [[# @LINE + 1]]:1: warning: this cannot run on a device, so threads run it: it combines values in a way that is not understood
#pragma omp parallel for reduction(second : r)
  for (int i = 0; i < 1000; i++) r.b += i;
  printf("%g %g %g %g %g %g\n", p.a, p.b, q.a, q.b, r.a, r.b);
}
