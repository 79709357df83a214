// A thread that asks again and again, between synchronisations, for what another one stores once, elsewhere in the region.
// threads: any
#include <omp.h>
#include <stdio.h>

static omp_lock_t lock;

static __attribute__((noinline)) void enter(void) { omp_set_lock(&lock); }
static __attribute__((noinline)) void leave(void) { omp_unset_lock(&lock); }

static int by_critical(void) {
  int data = 0, ready = 0, result = 0;
#pragma omp parallel sections shared(data, ready, result)
  {
#pragma omp section
    {
      data = 1;
#pragma omp critical
      ready = 1;
    }
#pragma omp section
    {
      int done = 0;
      while (!done) {
#pragma omp critical
        if (ready) done = 1;
      }
      result = data + 2;
    }
  }
  return result;
}

static int by_lock(void) {
  int data = 0, ready = 0, result = 0;
#pragma omp parallel sections shared(data, ready, result)
  {
#pragma omp section
    {
      data = 4;
      omp_set_lock(&lock);
      ready = 1;
      omp_unset_lock(&lock);
    }
#pragma omp section
    {
      int done = 0;
      while (!done) {
        while (!omp_test_lock(&lock)) continue;
        if (ready) done = 1;
        omp_unset_lock(&lock);
      }
      result = data + 8;
    }
  }
  return result;
}

static int in_functions(void) {
  int data = 0, ready = 0, result = 0;
#pragma omp parallel sections shared(data, ready, result)
  {
#pragma omp section
    {
      data = 16;
      enter();
      ready = 1;
      leave();
    }
#pragma omp section
    {
      int done = 0;
      while (!done) {
        enter();
        if (ready) done = 1;
        leave();
      }
      result = data + 32;
    }
  }
  return result;
}

static int by_atomic(void) {
  int data = 0, flag = 0, result = 0;
#pragma omp parallel sections shared(data, flag, result)
  {
#pragma omp section
    {
      for (int i = 0; i < 1000; i++) data += i;
#pragma omp atomic write seq_cst
      flag = 1;
    }
#pragma omp section
    {
      int got = 0, seen = 0;
      while (!got) {
#pragma omp atomic read seq_cst
        got = flag;
        if (got) seen = data;
      }
      result = seen;
    }
  }
  return result;
}

int main(void) {
  omp_init_lock(&lock);
  int critical = by_critical(), locked = by_lock(), called = in_functions(), atomic = by_atomic();
  printf("%d %d %d %d\n", critical, locked, called, atomic);
  omp_destroy_lock(&lock);
}
