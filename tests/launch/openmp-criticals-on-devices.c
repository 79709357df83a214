// How many threads a region has decides nothing that its loops do on a device: where it may, threads run them, and results are
// those of a program that was built without okl. Regions with critical sections whose results loops do not find run there.
//
// RUN: clang-22 -O2 -fopenmp %s -o %t.plain && OMP_NUM_THREADS=2 %t.plain > %t.expected
// RUN: %okl-cc -O2 -g -fopenmp --okl-target=cuda,cpu %s -o %t 2>&1 | grep warning: | FileCheck --check-prefix=TOLD --implicit-check-not=warning: %s
// RUN: OMP_NUM_THREADS=2 OKL_BACKEND=cuda-emulated %t > %t.ran && cmp %t.ran %t.expected
// RUN: OKL_STATS=1 OKL_BACKEND=cuda-emulated %t 2>&1 | FileCheck --check-prefix=RAN %s
//
// RAN-DAG: steps 3 {{.*}}openmp-criticals-on-devices.c:[[# @LINE + 23]]
// RAN-DAG: steps 3 {{.*}}openmp-criticals-on-devices.c:[[# @LINE + 25]]
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { N = 1000 };
static long a[2 * N], b[N];
static int n = N, calls;

static void tell(const char *what) {
  long sum = 0;
  for (int i = 0; i < 2 * N; i++)
    sum = (sum * 31 + a[i]) % 1000000007 + b[i / 2];
  printf("%s %ld\n", what, sum);
  memset(a, 0, sizeof a), memset(b, 0, sizeof b);
}

// Each says that it was here, and no loop looks.
static void steps(int count) {
#pragma omp parallel
  {
    for (int step = 0; step < count; step++) {
#pragma omp for
      for (int i = 0; i < n; i++)
        a[i] += step + i;
#pragma omp for
      for (int i = 0; i < n; i++)
        b[i] += a[i];
#pragma omp critical
      calls += step;
#pragma omp barrier
#pragma omp single
      calls += 2;
      if (omp_get_thread_num() == 0)
        calls += 3;
#pragma omp barrier
    }
  }
  printf("%d\n", calls > 0);
  tell("steps");
}

// With one thread all iterations of the first loop write the same.
static void critical(void) {
  int count = 0;
#pragma omp parallel
  {
#pragma omp critical
    count++;
#pragma omp barrier
#pragma omp for
    for (int i = 0; i < n; i++)
// TOLD: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: what it does may depend on how many threads there are
      a[i * (count - 1)] += i;
#pragma omp for
    for (int i = 0; i < n; i++)
      b[i] += 1;
  }
  tell("critical");
}

// The same by way of `single`.
static void single(void) {
  int seen[64] = {0}, count = 0;
#pragma omp parallel
  {
#pragma omp atomic
    seen[0]++;
#pragma omp barrier
#pragma omp single
    for (int i = 0; i < 64; i++)
      count += seen[i];
#pragma omp for
    for (int i = 0; i < n; i++)
// TOLD: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: what it does may depend on how many threads there are
      a[i * (count - 1)] += i;
#pragma omp for
    for (int i = 0; i < n; i++)
      b[i] += 1;
  }
  tell("single");
}

// Of two threads each has a place of its own.
static void master(void) {
// TOLD: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: each thread may find something of its own in front of the loop
#pragma omp parallel num_threads(2)
  {
    int place = N;
#pragma omp master
    place = 0;
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++)
      a[place] += i;
#pragma omp for
    for (int i = 0; i < n; i++)
      b[i] += 1;
  }
  tell("master");
}

int main(void) {
  steps(3);
  critical();
  single();
  master();
}
