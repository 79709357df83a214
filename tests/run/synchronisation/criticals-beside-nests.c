// Threads that are done early enter critical sections while others of their rank are in the midst of loops that declare
// what they write: what these write before, meanwhile and later is right, in pages that several threads of several ranks
// write parts of, and what critical sections hand on is, too.
// opt: -O0 -O2
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 3000, STEPS = 12 };

double a[N], b[N], c[N];
double total, largest;
int order[64], arrived;
long *list;

static double slow(double x, int times) {
  for (int i = 0; i < times; i++)
    x = x * 0.999 + 0.5;
  return x;
}

int main(void) {
  for (int i = 0; i < N; i++)
    a[i] = i % 13, b[i] = i % 7;
  list = malloc(64 * sizeof *list);
  int threads = 1;
#pragma omp parallel
  {
    int me = omp_get_thread_num();
    int all = omp_get_num_threads();
#pragma omp single
    threads = all;
    for (int step = 0; step < STEPS; step++) {
      // Some thread is always the last.
      int late = (step * 5 + 1) % all;
      double mine = 0;
#pragma omp for nowait
      for (int i = 0; i < N; i++) {
        a[i] = slow(a[i], me == late ? 30 : 1) * 0 + b[i] * 0.5 + step;
        mine += i % 17;
      }
#pragma omp critical(sum)
      {
        total += mine;
        order[arrived % 64] = 1;
        arrived++;
      }
      // Declared again, or not: a thread of this rank may have been in a critical section before.
#pragma omp for nowait
      for (int i = 0; i < N; i++)
        c[i] = a[i] + slow(i, me == late ? 1 : 30) * 0;
#pragma omp critical(largest)
      {
        if (largest < mine + step)
          largest = mine + step;
        list[arrived % 64] = step;
      }
#pragma omp barrier
#pragma omp for
      for (int i = 1; i < N - 1; i++)
        b[i] = 0.25 * (c[i - 1] + c[i + 1]) + 0.5 * a[N - 1 - i];
#pragma omp for
      for (int i = 0; i < N; i++)
        c[i] += b[N - 1 - i];
    }
  }
  double sum = 0;
  for (int i = 0; i < N; i++)
    sum = sum * 0.9999 + a[i] + 2 * b[i] + 3 * c[i];
  int entered = 0;
  for (int i = 0; i < 64; i++)
    entered += order[i];
  printf("%.12g %.12g %d %d\n", sum, total, arrived == threads * STEPS, entered == (arrived < 64 ? arrived : 64));
  free(list);
}
