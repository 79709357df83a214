// Regions of several loops with critical sections run on a device where nothing outside of the sections finds what threads leave
// in them; loops in functions of their own, with arrays that variables of the file lead to, among them. Where something does,
// threads run the region: how many there are may decide what its loops do.
//
// RUN: %okl-cc -O3 -g -fopenmp --okl-target=cuda,cpu %s -o %t 2> %t.told && FileCheck --check-prefix=TOLD --implicit-check-not=warning: %s < %t.told
// RUN: for way in cpu cuda-emulated; do OMP_NUM_THREADS=2 OKL_BACKEND=$way %t > %t.$way; done && cmp %t.cpu %t.cuda-emulated
// RUN: OKL_STATS=1 OKL_BACKEND=cuda-emulated %t 2>&1 | FileCheck --implicit-check-not=by_threads --implicit-check-not=through %s
//
// CHECK-DAG: 499500.0 499500.0 500520.0 1
// CHECK-DAG: steps 3 {{.*}}openmp-criticals-on-devices.c:[[# @LINE + 10]]
// CHECK-DAG: steps 3 {{.*}}openmp-criticals-on-devices.c:[[# @LINE + 14]]
#include <stdio.h>
#include <stdlib.h>

static double *x, *y, seen;
static int n = 1000, calls;
static long counted[200000];

static void scale(double by) {
#pragma omp for
  for (int i = 0; i < n; i++)
    y[i] += by * x[i];
}
static void shift(void) {
#pragma omp for
  for (int i = 0; i < n; i++)
    x[i] += 0.0;
}

// Each says that it was here, and nobody looks until the region has ended.
static void steps(void) {
#pragma omp parallel
  {
    for (int step = 0; step < 3; step++) {
      scale(step == 1);
      shift();
#pragma omp critical
      {
        calls++;
        seen = seen < step ? step : seen;
      }
#pragma omp barrier
    }
  }
}

// How many have been here is what a loop multiplies with: with one thread all iterations write the same.
static void by_threads(void) {
  static int here;
#pragma omp parallel
  {
#pragma omp critical
    here++;
#pragma omp barrier
#pragma omp for
    for (int i = 0; i < 1000; i++)
// TOLD: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: outside of critical sections a thread may find what was left in them
      counted[(long)i * (here - 1)] += i;
#pragma omp for
    for (int i = 0; i < 1000; i++)
      counted[i + 100000] += 1;
  }
}

// The same through a pointer that may lead anywhere.
static __attribute__((noinline)) void through(int *where, long *to, int *count) {
#pragma omp parallel
  {
#pragma omp critical
    *where += 1;
#pragma omp barrier
#pragma omp for
// TOLD: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: each thread may find something of its own in front of the loop
    for (int i = 0; i < *count; i++)
      to[i] += 1;
#pragma omp for
    for (int i = 0; i < *count; i++)
      to[i] += 1;
  }
}

int main(void) {
  x = malloc(n * sizeof *x), y = malloc(n * sizeof *y);
  for (int i = 0; i < n; i++)
    x[i] = i, y[i] = 0;
  steps();
  by_threads();
  int where = 0, count = 10;
  through(&where, counted + 150000, &count);
  double sum = 0, of_x = 0;
  for (int i = 0; i < n; i++)
    sum += y[i], of_x += x[i];
  long all = 0;
  for (int i = 0; i < 200000; i++)
    all += counted[i];
  printf("%.1f %.1f %.1f %d\n", sum, of_x, (double)all, calls > 0 && seen == 2 && where > 0);
}
