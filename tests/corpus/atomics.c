// Atomic objects of every size and order.
// RUN: %S/compile %plugin %s -std=c11
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
struct three {
  char c[3];
};
struct big {
  long a, b;
};
struct bigger {
  long a[5];
};
static _Atomic struct three three;
static _Atomic struct big big;
static _Atomic struct bigger bigger;
static _Atomic(double) real;
static _Atomic long double extended;
static atomic_bool flag;
static atomic_flag lock = ATOMIC_FLAG_INIT;
static _Atomic(int *) pointer;
static _Atomic __int128 wide;
static _Atomic unsigned char byte;
static _Atomic _Bool truths[4];
static _Float16 narrow;
static float x;
static double y;
static long double z;

int main(void) {
  int n = 0, old;
#pragma omp parallel for
  for (int i = 0; i < 20; i++) {
    struct big b = big;
    b.a++;
    big = b;
    struct bigger c = atomic_load(&bigger);
    atomic_store_explicit(&bigger, c, memory_order_release);
    three = (struct three){"ab"};
    real += 1.5;
    extended *= 2;
    wide += i;
    byte <<= 1;
    pointer = &n;
    pointer++;
    truths[i % 4] = !truths[(i + 1) % 4];
    bool expected = false;
    atomic_compare_exchange_weak_explicit(&flag, &expected, true, memory_order_acq_rel, memory_order_relaxed);
    atomic_exchange(&flag, false);
    while (atomic_flag_test_and_set(&lock))
      ;
    atomic_flag_clear(&lock);
    atomic_thread_fence(memory_order_seq_cst);
    atomic_signal_fence(memory_order_acquire);
    __atomic_fetch_nand(&n, i, __ATOMIC_RELAXED);
    __sync_val_compare_and_swap(&n, 1, 2);
    __sync_synchronize();
    __atomic_fetch_min(&n, i, __ATOMIC_SEQ_CST);
#pragma omp atomic capture seq_cst
    old = n++;
#pragma omp atomic
    x = 3 - x;
#pragma omp atomic
    y /= 1.5;
#pragma omp atomic
    z += old;
#pragma omp atomic
    narrow += 1;
#pragma omp atomic compare
    if (n < i)
      n = i;
#pragma omp atomic compare capture
    {
      old = n;
      if (n == 5)
        n = 6;
    }
#pragma omp atomic write release
    x = i;
#pragma omp atomic read acquire
    old = n;
  }
  printf("%g\n", (double)real);
  return 0;
}
