// Recursive tasks with taskwait, called from one thread and from all threads.
// threads: any
#include <stdio.h>

static long fibonacci(int n) {
  long a, b;
  if (n < 2) return n;
#pragma omp task shared(a)
  a = fibonacci(n - 1);
#pragma omp task shared(b) if (n > 5)
  b = fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}

int main(void) {
  long by_single = 0, wrong = 0;
#pragma omp parallel
#pragma omp single
  by_single = fibonacci(15);
#pragma omp parallel reduction(+ : wrong)
  wrong += fibonacci(9) != 34;
  printf("%ld %ld %ld\n", by_single, wrong, fibonacci(10));
  return 0;
}
