// A signal handler reads an array between regions.
// threads: any
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { n = 20000 };
static double *a, *b;
static volatile double seen;

static void look(int number) {
  (void)number;
  seen = a[n - 2] + a[n / 2] + b[n / 2];
}

int main(void) {
  a = malloc(n * sizeof *a);
  b = malloc(n * sizeof *b);
  signal(SIGUSR1, look);
  for (int i = 0; i < n; i++) a[i] = b[i] = i % 13;
  double sum = 0;
  for (int k = 0; k < 20; k++) {
#pragma omp parallel for
    for (int i = 1; i < n - 1; i++) b[i] = 0.5 * (a[i - 1] + a[i + 1]);
    raise(SIGUSR1);
    sum += seen;
    double *swap = a;
    a = b;
    b = swap;
  }
  printf("%.15g\n", sum);
  return 0;
}
