// What of OpenMP's regions a device does not run stays with its threads, and a warning says why; with `-okl-strict` that is an
// error.
//
// RUN: clang-22 -O2 -g -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=cuda,cpu -c %s -o %t.o 2>&1 | grep warning: | FileCheck --match-full-lines --implicit-check-not=warning: %s
// RUN: not clang-22 -O2 -g -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=cuda,cpu -mllvm -okl-strict -c %s -o %t.o 2>&1 | FileCheck --check-prefix=STRICT %s
// STRICT: error: this cannot run on a device, so threads run it
#include <stdlib.h>
extern double unknown(double);
extern int omp_get_thread_num(void), omp_get_num_threads(void);
extern void omp_set_lock(void *), omp_unset_lock(void *);
static _Thread_local int own;
double a[1000], *rows[10];
int n = 1000;
volatile int seen;
void calls(void) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
// CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: it calls unknown, which is not known here
    a[i] = unknown(i);
}
void numbers(void) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
// CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: it calls omp_get_thread_num, of which this file has no code
    a[i] = omp_get_thread_num();
}
void follows(void) {
#pragma omp parallel for
  for (int i = 0; i < 10; i++)
// CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: it follows a pointer that is in memory, which leads to no memory of the device's
    rows[i][0] = i;
}
void each(void) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
// CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: it uses own, of which each thread has one
    a[i] = own;
}
void critical(void) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
// CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: it calls __kmpc_critical, of which this file has no code
#pragma omp critical
    a[0] += i;
}
void several(void) {
#pragma omp parallel
  {
    double kept[4] = {0};
#pragma omp for
    for (int i = 0; i < n; i++) kept[i & 3] += i;
#pragma omp for
// CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: a thread keeps for itself what its iterations leave
    for (int i = 0; i < n; i++) a[i] += kept[i & 3];
  }
}
void workspace(int m) {
#pragma omp parallel
  {
// CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: each thread may find something of its own in front of the loop
    double *work = malloc(m * sizeof *work);
#pragma omp for
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < m; j++) work[j] = i + j;
      a[i] = work[m - 1];
    }
#pragma omp for
    for (int i = 0; i < n; i++) a[i] += i;
    free(work);
  }
}
void of_threads(long *part) {
#pragma omp parallel
  {
// CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: each thread may find something of its own in front of the loop
    int thread = omp_get_thread_num();
#pragma omp for
    for (int i = 0; i < n; i++) part[thread] += i;
#pragma omp for
    for (int i = 0; i < n; i++) a[i] += i;
  }
}
void tickets(long *part) {
  static int next;
#pragma omp parallel
  {
    int ticket;
#pragma omp critical
// CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: each thread may find something of its own in front of the loop
    ticket = next++;
#pragma omp for
    for (int i = 0; i < n; i++) part[ticket] += i;
#pragma omp for
    for (int i = 0; i < n; i++) a[i] += i;
  }
}
// How many threads there are, in front of loops.
#define LOOPS(k)                                                                                                       \
  _Pragma("omp for") for (int i = 0; i < n; i++) a[i * (k)] += i;                                                      \
  _Pragma("omp for") for (int i = 0; i < n; i++) a[i] += i;
void asked(int k) {
#pragma omp parallel
  {
#pragma omp single
    k = omp_get_num_threads();
// CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: what it does may depend on how many threads there are
    LOOPS(k - 1)
  }
}
void branches(void) {
#pragma omp parallel
  {
// CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: what it does may depend on how many threads there are
    if (omp_get_num_threads() > 1) {
      LOOPS(1)
    } else {
      LOOPS(0)
    }
  }
}
void numbered(int k) {
  int is_there[64] = {0};
#pragma omp parallel
  {
    is_there[omp_get_thread_num()] = 1;
#pragma omp barrier
#pragma omp single
    k = is_there[1];
// CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: what it does may depend on how many threads there are
    LOOPS(k)
  }
}
void locks(void *lock, int k) {
#pragma omp parallel
  {
// CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: its threads have locks outside of their loops
    omp_set_lock(lock);
    k++;
    omp_unset_lock(lock);
    LOOPS(k)
  }
}
void registers(void) {
#pragma omp parallel
  {
// CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: each thread calls what is not known here
    unknown(0);
    LOOPS(1)
  }
}
void scope(int k) {
#pragma omp parallel
  {
#pragma omp scope reduction(+ : k)
    k++;
// CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: what it does may depend on how many threads there are
    LOOPS(k)
  }
}
void outside(int *count) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; i++) a[i] = i;
#pragma omp atomic
// CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: behind the loop each thread looks at what others changed
    *count += 1;
  }
}
void counts(int *count) {
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  {
#pragma omp for
    for (int i = 0; i < n; i++) a[i] = i;
// CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: outside of the loop each thread has a part in what is combined
    threads++;
  }
  *count = threads;
}
void ordered(void) {
#pragma omp parallel for ordered
// CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: its iterations may have an ordered part
  for (int i = 0; i < n; i++) {
#pragma omp ordered
    a[i] += i ? a[i - 1] : 0;
  }
}
void changing(void) {
  seen = 1;
#pragma omp parallel for
  for (int i = 0; i < n; i++)
// CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: it accesses memory that is `volatile`
    a[i] = seen;
}
void wide(long double *x) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
// CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: it computes with `long double` or `__float128`
    x[i] = i;
}
void sized(int *bins, int m) {
// CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: it combines arrays whose sizes are computed
#pragma omp parallel for reduction(+ : bins[ : m])
  for (int i = 0; i < n; i++)
    bins[i % m]++;
}
void large(void) {
  double bins[97] = {0};
// CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: it combines values of too many bytes
#pragma omp parallel for reduction(+ : bins)
  for (int i = 0; i < n; i++)
    bins[i % 97] += i;
  a[7] = bins[3];
}
static int calls_twice(int k) { return k < 2 ? n : calls_twice(k - 1) + calls_twice(k - 2) + calls_twice(k - 3); }
void recurses(void) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
// CHECK: {{.*}}:[[# @LINE + 1]]:{{.*}}: warning: this cannot run on a device, so threads run it: it calls calls_twice, which calls itself or too much else
    a[i] = calls_twice(i);
}
