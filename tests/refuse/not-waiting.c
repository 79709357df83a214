// Loops with atomics that do not wait.
// RUN: for level in 0 1 2; do clang-22 -O$level -fopenmp -Werror -fpass-plugin=%plugin -c %s -o %t.o || exit 1; done
#include <stdatomic.h>

atomic_int counter;

void update(void) {
#pragma omp parallel
  {
    int old = atomic_load(&counter);
    while (!atomic_compare_exchange_weak(&counter, &old, old * 2)) {
    }
  }
}

void reload(void) {
#pragma omp parallel
  {
    int old;
    do
      old = atomic_load(&counter);
    while (!atomic_compare_exchange_strong(&counter, &old, old * 2));
  }
}

void compiled_update(double *x, int *y, int v) {
#pragma omp parallel
  {
#pragma omp atomic
    *x *= 3;
#pragma omp atomic compare
    if (*y < v) *y = v;
  }
}

void self_scheduling(double *a, int n) {
#pragma omp parallel
  for (int i; (i = atomic_fetch_add(&counter, 1)) < n;) a[i] = i;
}

void early_exit(double *a, int n) {
#pragma omp parallel
  for (int i = 0; i < n && !atomic_load(&counter); i++) a[i] = i;
}

void volatile_counter(double *a, int n) {
#pragma omp parallel
  for (volatile int i = 0; i < n; i++) a[i] = 1;
}

void with_barrier(volatile int *done) {
#pragma omp parallel
  while (!*done) {
#pragma omp barrier
  }
}

void with_critical(volatile int *done) {
#pragma omp parallel
  for (int stop = 0; !stop;) {
#pragma omp critical
    stop = *done;
  }
}

void probing(atomic_int *table, int key, int size) {
#pragma omp parallel
  for (int i = key % size;; i = (i + 1) % size) {
    int empty = 0;
    if (atomic_compare_exchange_strong(&table[i], &empty, key) || empty == key) break;
  }
}
