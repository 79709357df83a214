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

// Waits at a synchronisation point.
void acquiring(int *f) {
#pragma omp parallel
  {
    int value;
    do {
#pragma omp atomic read acquire
      value = *f;
    } while (!value);
  }
}

void in_order(void) {
#pragma omp parallel
  while (!atomic_load(&counter)) {
  }
}

void with_flush(int *f) {
#pragma omp parallel
  {
    int value = 0;
    while (!value) {
#pragma omp flush
#pragma omp atomic read
      value = *f;
    }
  }
}

void with_fence(void) {
#pragma omp parallel
  while (!atomic_load_explicit(&counter, memory_order_relaxed)) atomic_thread_fence(memory_order_acquire);
}

void spin_lock(double *a) {
#pragma omp parallel
  {
    while (atomic_exchange_explicit(&counter, 1, memory_order_acquire)) {
    }
    a[0]++;
    atomic_store_explicit(&counter, 0, memory_order_release);
  }
}

static int look(int *f) {
  int value;
#pragma omp atomic read seq_cst
  value = *f;
  return value;
}

void in_a_function(int *f) {
#pragma omp parallel
  while (!look(f)) {
  }
}
