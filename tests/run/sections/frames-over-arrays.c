// A function's large array on the stack is used by regions and gone; later frames take its place.
// threads: any
#include <stdio.h>
#include <string.h>

static __attribute__((noinline)) double fill(int n) {
  double big[100000], sum = 0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) big[i] = i % 5;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += big[i];
  return sum;
}

static __attribute__((noinline)) double count(int n, int round) {
  char pad[8192];
  memset(pad, round, sizeof pad);
  double total = n;
#pragma omp parallel
  {
#pragma omp critical
    total += 1;
  }
#pragma omp parallel
  {
#pragma omp single
    total += pad[round % 8192];
  }
  return total - n > 0 ? n : -1;
}

int main(void) {
  double sum = 0;
  for (int round = 0; round < 10; round++) {
    sum += fill(100000 - round);
    sum += count(round, round);
  }
  printf("%.10g\n", sum);
  return 0;
}
