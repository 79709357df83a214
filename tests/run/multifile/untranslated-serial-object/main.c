// An object without OpenMP that was compiled without the plugin: pure functions and callbacks.
// threads: any
// ranks: 2 3 4
// expect-stderr: which was not compiled with okl and may keep state of its own
// untranslated: plain.c
#include <stdio.h>

double evaluate(const double *c, int n, double x);
void for_each(int *from, int n, int (*f)(int));
int sum_of(const int *from, int n);

static int next(int x) { return x * 2 + 1; }

int main(void) {
  double c[10], out[100];
  int numbers[300];
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < 10; i++) c[i] = i * 0.25;
#pragma omp for
    for (int i = 0; i < 100; i++) out[i] = evaluate(c, 10, (i % 4) * 0.5);
#pragma omp for
    for (int i = 0; i < 300; i++) numbers[i] = i;
#pragma omp for
    for (int i = 0; i < 30; i++) for_each(numbers + 10 * i, 10, next);
  }
  double sum = 0;
  for (int i = 0; i < 100; i++) sum += out[i] * i;
  printf("%.6f %d\n", sum, sum_of(numbers, 300));
  return 0;
}
