// Loops that wait with plain loads: what stands in the loop makes the compiler read memory again.
// RUN: for level in 0 1 2; do clang-22 -O$level -fopenmp -gline-tables-only -fpass-plugin=%plugin -c %s -o %t.o 2>&1 | FileCheck %s || exit 1; done
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

int flag;

// CHECK: waiting-plain.c:[[# @LINE + 2]]:1: warning: {{.*}}it waits
void with_fence(void) {
#pragma omp parallel
  while (!flag) __sync_synchronize();
}

// CHECK: waiting-plain.c:[[# @LINE + 2]]:1: warning: {{.*}}it waits
void with_signal_fence(void) {
#pragma omp parallel
  while (!flag) atomic_signal_fence(memory_order_seq_cst);
}

// CHECK: waiting-plain.c:[[# @LINE + 2]]:1: warning: {{.*}}it waits
void with_compiler_barrier(void) {
#pragma omp parallel
  while (!flag) __asm__ volatile("" ::: "memory");
}

// CHECK: waiting-plain.c:[[# @LINE + 2]]:1: warning: {{.*}}it waits
void with_sleep(void) {
#pragma omp parallel
  while (!flag) usleep(10);
}

// CHECK: waiting-plain.c:[[# @LINE + 2]]:1: warning: {{.*}}it waits
void with_taskyield(void) {
#pragma omp parallel
  while (!flag) {
#pragma omp taskyield
  }
}

// CHECK: waiting-plain.c:[[# @LINE + 3]]:1: warning: {{.*}}it waits
void with_compare_exchange(int *y) {
  // The result of the exchange is not looked at.
#pragma omp parallel
  while (*y != 5) {
#pragma omp atomic compare
    if (*y == 1) *y = 5;
  }
}

static int look(const int *place) {
#pragma omp flush
  return *place;
}

// CHECK: waiting-plain.c:[[# @LINE + 2]]:1: warning: {{.*}}it waits
void in_a_function(void) {
#pragma omp parallel
  while (!look(&flag)) {
  }
}

// CHECK: waiting-plain.c:[[# @LINE + 2]]:1: warning: {{.*}}it waits
void adding_nothing(void) {
#pragma omp parallel
  while (!__atomic_fetch_add(&flag, 0, __ATOMIC_RELAXED)) {
  }
}
