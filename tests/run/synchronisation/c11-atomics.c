// C11 atomics in a region: fetch-and-op, exchange, compare-exchange, flags for work claimed once.
// threads: any
#include <stdatomic.h>
#include <stdio.h>

static _Atomic int counter;
static atomic_ulong bits;
static _Atomic double sum;
static atomic_flag claimed[50];
static atomic_int done[50];

int main(void) {
  _Atomic short local = 0;
  int twice = 0;
#pragma omp parallel reduction(+ : twice)
  {
#pragma omp for
    for (int i = 0; i < 100; i++) {
      atomic_fetch_add(&counter, i);
      atomic_fetch_or_explicit(&bits, 1ul << (i % 60), memory_order_relaxed);
      local += 2;
      sum += 0.25;
      int expected = i;
      twice += atomic_compare_exchange_strong(&done[49], &expected, i + 1000) && i != 0;
    }
    // Every thread offers to do all the work; each piece is done once.
    for (int k = 0; k < 49; k++)
      if (!atomic_flag_test_and_set(&claimed[k])) atomic_fetch_add(&done[k], 1);
  }
  int once = 0;
  for (int k = 0; k < 49; k++) once += done[k] == 1;
  printf("%d %lx %d %.2f %d %d\n", counter, (unsigned long)bits, (int)local, (double)sum, once,
         twice);
  return 0;
}
