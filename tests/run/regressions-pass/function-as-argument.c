// A function of the run time that is handed over: what is handed over with it, by value, stays what it is.
#include <omp.h>
#include <stdio.h>

struct numbers {
  long of[8];
};

static long use(int (*ask)(void), struct numbers a, struct numbers b) {
  return 10 * a.of[3] + b.of[3] + 10000 * ask();
}

static long (*volatile some_use)(int (*)(void), struct numbers, struct numbers) = use;

int main(void) {
  struct numbers a, b;
  for (int i = 0; i < 8; i++) {
    a.of[i] = 10 + i;
    b.of[i] = 50 + i;
  }
  long sum = some_use(omp_in_parallel, a, b);
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 10; i++)
    sum += i;
  printf("%ld %ld\n", sum, some_use(omp_get_level, b, a));
  return 0;
}
