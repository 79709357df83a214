// Loops whose turns are short, with an atomic access in each that cannot wait, a lock, or a critical section that may do
// much: rank 0 runs their regions. Not so where what is tried until it succeeds is seldom tried, turns are long, the threads
// meet in a loop, or the accesses may wait.
// RUN: clang-22 -O2 -g -fopenmp -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-accesses>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: clang-22 -O2 -g -fopenmp -fpass-plugin=%plugin -Rpass-missed=okl -S -emit-llvm %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
int n, *degree, *place, *from, *to, *level, *frontier, *start;
unsigned long *seen;
struct node { struct node *next; int value; } *head;
typedef struct { void *lock; } omp_lock_t;
void omp_set_lock(omp_lock_t *), omp_unset_lock(omp_lock_t *);
omp_lock_t *locks;
double *a, most;
double work(double);

// CHECK: region at {{.*}}at-once.c:[[@LINE+5]]: at once for {{.*}}at-once.c:[[@LINE+6]], tracked
// CHECK-NOT: region
// REMARK: at-once.c:[[@LINE+3]]:1: remark: rank 0 runs this region by itself, on as many threads: its atomic accesses ({{.*}}at-once.c:[[@LINE+4]]) follow on each other too fast to go to other ranks
// REMARK-NOT: rank 0 runs
void scatter(void) {
#pragma omp parallel for
  for (int e = 0; e < n; e++) to[__sync_fetch_and_add(&place[from[e]], 1)] = e;
}

// CHECK: region at {{.*}}at-once.c:[[@LINE+5]]: at once for
// CHECK-NOT: region
// REMARK: at-once.c:[[@LINE+3]]:1: remark: rank 0 runs this region by itself
// REMARK-NOT: rank 0 runs
void mark(int count) {
#pragma omp parallel for schedule(dynamic, 64)
  for (int f = 0; f < count; f++)
    for (int e = start[frontier[f]]; e < start[frontier[f] + 1]; e++) {
      unsigned long bit = 1ul << to[e] % 64, before = __atomic_fetch_or(&seen[to[e] / 64], bit, __ATOMIC_RELAXED);
      if (!(before & bit)) level[to[e]] = f;
    }
}

// The loop that compares and swaps may be left at once.
// CHECK: region at {{.*}}at-once.c:[[@LINE+5]]: at once for
// CHECK-NOT: region
// REMARK: at-once.c:[[@LINE+3]]:1: remark: rank 0 runs this region by itself
// REMARK-NOT: rank 0 runs
void least(void) {
#pragma omp parallel for
  for (int e = 0; e < n; e++) {
    int old = level[to[e]];
    while (from[e] < old && !__atomic_compare_exchange_n(&level[to[e]], &old, from[e], 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  }
}

// CHECK: region at {{.*}}at-once.c:[[@LINE+2]]: complete but for
void largest(void) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double x = work(i), old = most, new;
    do new = old < x ? x : old;
    while (!__atomic_compare_exchange(&most, &old, &new, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  }
}

// CHECK: region at {{.*}}at-once.c:[[@LINE+3]]: tracked
void queue(void) {
  static int next;
#pragma omp parallel
  for (int i; (i = __sync_fetch_and_add(&next, 1)) < n;) a[i] = work(a[i]);
}

// CHECK: region at {{.*}}at-once.c:[[@LINE+2]]: tracked
void turns(int times) {
#pragma omp parallel
  for (int time = 0; time < times; time++) {
#pragma omp for
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) a[i * n + j] = 2 * a[i * n + j] + time;
#pragma omp for
    for (int e = 0; e < n; e++) to[__sync_fetch_and_add(&place[from[e]], 1)] = e;
  }
}

// CHECK: region at {{.*}}at-once.c:[[@LINE+5]]: at once for
// CHECK-NOT: region
// REMARK: at-once.c:[[@LINE+3]]:1: remark: rank 0 runs this region by itself
// REMARK-NOT: rank 0 runs
void rounds(void) {
#pragma omp parallel
  for (int left = 1; left;) {
    int found = 0;
#pragma omp for
    for (int v = 0; v < n; v++)
      for (int e = start[v]; e < start[v + 1]; e++) {
        int none = -1;
        if (level[v] >= 0 && __atomic_compare_exchange_n(&level[to[e]], &none, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) found++;
      }
#pragma omp for
    for (int v = 0; v < n; v++) frontier[v] = level[v];
#pragma omp single copyprivate(left)
    left = found;
  }
}

// CHECK: region at {{.*}}at-once.c:[[@LINE+2]]: complete
void count(void) {
#pragma omp parallel for
  for (int e = 0; e < n; e++)
#pragma omp atomic
    degree[from[e]]++;
}

// What is done in the critical section does not count, and the loop around the others turns three times.
// CHECK: region at {{.*}}at-once.c:[[@LINE+5]]: at once for {{.*}}at-once.c:[[@LINE+9]], tracked
// CHECK-NOT: region
// REMARK: at-once.c:[[@LINE+3]]:1: remark: rank 0 runs this region by itself, on as many threads: its critical sections or locks ({{.*}}at-once.c:[[@LINE+7]])
// REMARK-NOT: rank 0 runs
void sorted(struct node *all) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    for (int j = -1; j < 2; j++)
      if (from[i] + j > 0) a[3 * i + j + 1] += i;
#pragma omp critical
    {
      struct node **at = &head;
      while (*at && (*at)->value < to[i]) at = &(*at)->next;
      all[i].next = *at;
      *at = &all[i];
    }
  }
}

// CHECK: region at {{.*}}at-once.c:[[@LINE+5]]: at once for {{.*}}at-once.c:[[@LINE+7]], tracked
// CHECK-NOT: region
// REMARK: at-once.c:[[@LINE+3]]:1: remark: rank 0 runs this region by itself
// REMARK-NOT: rank 0 runs
void each_has_one(void) {
#pragma omp parallel for
  for (int e = 0; e < n; e++) {
    omp_set_lock(&locks[to[e]]);
    place[to[e]] = 3 * place[to[e]] + 1;
    omp_unset_lock(&locks[to[e]]);
  }
}

// CHECK: region at {{.*}}at-once.c:[[@LINE+2]]: tracked
void long_turns(struct node *all, int count) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < count; j++) a[i] += work(j);
#pragma omp critical
    {
      all[i].next = head;
      head = &all[i];
    }
  }
}

// CHECK: region at {{.*}}at-once.c:[[@LINE+2]]: tracked
void sometimes(struct node *all, int count) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < count; j++) a[i] += j;
    if (a[i] > 0) {
#pragma omp critical
      {
        all[i].next = head;
        head = &all[i];
      }
    }
  }
}
