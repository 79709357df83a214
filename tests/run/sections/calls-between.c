// Serial code between regions hides in functions of every kind: static, external, called through a pointer.
// threads: any
#include <stdio.h>
#include <stdlib.h>

enum { n = 20000 };
static double *a, *b;

static __attribute__((noinline)) void sweep(double *from, double *to) {
#pragma omp parallel for
  for (int i = 1; i < n - 1; i++) to[i] = 0.5 * (from[i - 1] + from[i + 1]);
}

static __attribute__((noinline)) double middle(const double *from) { return from[n / 2] + from[n - 2]; }

__attribute__((noinline)) void poke(double *to, int i) { to[n - 2 - i] += 1; }

static __attribute__((noinline)) void nothing(int *counter) { ++*counter; }

static int descending(const void *x, const void *y) {
  double p = *(const double *)x, q = *(const double *)y;
  return (p < q) - (p > q);
}

int main(void) {
  a = malloc(n * sizeof *a);
  b = malloc(n * sizeof *b);
  for (int i = 0; i < n; i++) a[i] = b[i] = i % 11;
  double sum = 0;
  int counter = 0;
  double (*volatile look)(const double *) = middle;
  for (int k = 0; k < 30; k++) {
    sweep(a, b);
    nothing(&counter);
    if (k % 3 == 0) sum += middle(b);
    sweep(b, a);
    if (k % 4 == 1) poke(a, k);
    if (k % 5 == 2) sum += look(a);
    if (k == 17) qsort(a, n, sizeof *a, descending);
  }
  for (int i = 0; i < n; i++) sum = sum * 0.999 + a[i] + b[i];
  printf("%.15g %d\n", sum, counter);
  free(a);
  free(b);
  return 0;
}
