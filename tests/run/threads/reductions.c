// Reductions of several operators, types and arrays; the results of each execution are the same.
// ranks: 1 2 3
// threads: any
// env: OMP_NUM_THREADS=2
// opt: -O2
#include <stdio.h>
#include <stdlib.h>

enum { N = 5003, BINS = 7 };

int main(void) {
  double *x = malloc(N * sizeof *x);
  long bins[BINS] = {0}, total = 0;
  double sum = 0, first = 0;
  int smallest = 1 << 30, biggest = -1, all = 1, some = 0;
  unsigned parity = 0;
#pragma omp parallel for
  for (int i = 0; i < N; i++) x[i] = (i * 37) % 101;
#pragma omp parallel for reduction(+ : sum) reduction(min : smallest) reduction(max : biggest) reduction(^ : parity) \
    reduction(&& : all) reduction(|| : some)
  for (int i = 0; i < N; i++) {
    int value = (int)x[i] + i;
    sum += x[i];
    smallest = value < smallest ? value : smallest;
    biggest = value > biggest ? value : biggest;
    parity ^= (unsigned)value * 2654435761u;
    all = all && value >= 0;
    some = some || value == 1234;
  }
#pragma omp parallel for reduction(+ : bins[ : BINS])
  for (int i = 0; i < N; i++) bins[(int)x[i] % BINS] += i;
#pragma omp parallel
  {
#pragma omp for nowait reduction(+ : total)
    for (int i = 0; i < N; i++) total += i;
#pragma omp for nowait reduction(max : first)
    for (int i = 0; i < N; i++) first = x[i] > first ? x[i] : first;
  }
  printf("%.17g %d %d %u %d %d %ld %.17g\n", sum, smallest, biggest, parity, all, some, total, first);
  for (int i = 0; i < BINS; i++) printf("%ld ", bins[i]);
  puts("");
  // A sum whose last digits depend on the order is the same each time.
  double before = 0;
  int same = 1;
  for (int round = 0; round < 20; round++) {
    double inexact = 0;
#pragma omp parallel for reduction(+ : inexact)
    for (int i = 0; i < N; i++) inexact += 1.0 / (1 + x[i] * i);
    same &= round == 0 || inexact == before;
    before = inexact;
  }
  printf("same %d\n", same);
  return 0;
}
