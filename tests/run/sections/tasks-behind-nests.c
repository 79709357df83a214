// Tasks that wait for the end of `single`, in which a nest behind them declares what it accesses: their records lie in the
// page of an array that is closed then.
// opt: -O2
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 512, WIDTH = 32 };

static long *a;
static unsigned b[N];
static long sum, last;
static double c[N];

int main(void) {
  a = malloc(N * sizeof *a);
  for (int i = 0; i < N; i++) {
    a[i] = i * 7L;
    b[i] = i * 13u;
  }
#pragma omp parallel
  for (int t = 0; t < 3; t++) {
#pragma omp for
    for (int i = 1; i < N / WIDTH - 1; i++)
      for (int j = 0; j < WIDTH; j++)
        a[i * WIDTH + j] += b[(i - 1) * WIDTH + j] + b[(i + 1) * WIDTH + j] * 5L;
#pragma omp for
    for (int i = 1; i < N / WIDTH - 1; i++)
      for (int j = 0; j < WIDTH; j++)
        b[i * WIDTH + j] = a[(i - 1) * WIDTH + j] ^ a[(i + 1) * WIDTH + j];
#pragma omp single
    {
#pragma omp task
      for (int i = 0; i < N; i++)
        a[i] += i;
#pragma omp task
      sum += b[N / 2];
#pragma omp task if (0)
      for (int i = 0; i < N; i++)
        c[i] = last;
#pragma omp task
      last = t;
    }
  }
  unsigned long all = 0;
  for (int i = 0; i < N; i++)
    all = all * 31 + a[i] * 3 + b[i] + (long)c[i];
  printf("%lx %ld %ld\n", all, sum, last);
  free(a);
}
