// Static arrays and counters inside functions, used in regions and in serial code.
// threads: any
#include <stdio.h>

static long step(int round) {
  static int calls = 5;
  static long history[200];
#pragma omp parallel for
  for (int i = 0; i < 200; i++) history[i] += i * calls;
  calls += round;
  long sum = 0;
  for (int i = 0; i < 200; i++) sum += history[i];
  return sum;
}

static int weight(int i) {
  static const short weights[3] = {3, 5, 7};
  return weights[i % 3];
}

int main(void) {
  for (int round = 0; round < 5; round++) printf("%ld\n", step(round));
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += weight(i);
  printf("%d\n", sum);
  return 0;
}
