// Loops that wait for another thread without a synchronisation point.
// RUN: for level in 0 1 2; do clang-22 -O$level -fopenmp -gline-tables-only -fpass-plugin=%plugin -c %s -o %t.o 2>&1 | FileCheck %s || exit 1; done
#include <sched.h>
#include <stdatomic.h>

volatile int volatile_flag;
atomic_int flag, lock;

// CHECK: waiting.c:[[# @LINE + 2]]:1: warning: parallel region runs on rank 0 alone: it waits for another thread to change a variable, without a synchronisation point ({{.*}}waiting.c:[[# @LINE + 3]])
void on_volatile(void) {
#pragma omp parallel
  while (!volatile_flag)
    sched_yield();
}

// CHECK: waiting.c:[[# @LINE + 2]]:1: warning: {{.*}}it waits with a flush for another thread to change a variable, but does not read it atomically: what a thread writes arrives where it synchronises itself ({{.*}}waiting.c:[[# @LINE + 3]])
void on_flushed(int *flags, int i) {
#pragma omp parallel
  while (flags[i] == 0) {
#pragma omp flush
  }
}

// CHECK: waiting.c:[[# @LINE + 2]]:1: warning: {{.*}}it waits
void on_atomic(void) {
#pragma omp parallel
  while (atomic_load_explicit(&flag, memory_order_relaxed) == 0)
    ;
}

// CHECK: waiting.c:[[# @LINE + 2]]:1: warning: {{.*}}it waits
void on_atomic_read(int *f) {
#pragma omp parallel
  {
    int value = 0;
    do {
#pragma omp atomic read
      value = *f;
    } while (!value);
  }
}

// CHECK: waiting.c:[[# @LINE + 2]]:1: warning: {{.*}}it waits
void with_compare_exchange(double *a) {
#pragma omp parallel
  {
    int expected = 0;
    while (!atomic_compare_exchange_weak_explicit(&lock, &expected, 1, memory_order_relaxed, memory_order_relaxed))
      expected = 0;
    a[0]++;
    atomic_store(&lock, 0);
  }
}

// CHECK: waiting.c:[[# @LINE + 2]]:1: warning: {{.*}}it waits
void with_exchange(double *a) {
#pragma omp parallel
  {
    while (atomic_exchange_explicit(&lock, 1, memory_order_relaxed)) {
    }
    a[0]++;
    atomic_store(&lock, 0);
  }
}

// CHECK: waiting.c:[[# @LINE + 2]]:1: warning: {{.*}}it waits
void with_limited_patience(int *f) {
#pragma omp parallel
  for (int tries = 0; tries < 1000 && !atomic_load_explicit(&flag, memory_order_relaxed); tries++)
    sched_yield();
}
