// The same barriers of the same region, many times without news for other threads, then with some: memory
// written through pointers, other team sizes, copyprivate.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 5000, ROUNDS = 60 };
static double field[N], next[N];
static int table[N], where[N];

static int is_loud(int round) { return round % 12 == 9 || round % 12 == 10 || round == 31; }

int main(void) {
  for (int i = 0; i < N; i++) {
    field[i] = i % 97;
    where[i] = (i * 7) % N;
  }
  for (int round = 0; round < ROUNDS; round++) {
    int threads = round % 20 == 15 ? 1 + round % 2 : omp_get_max_threads();
    int copied = 0, passed = 0;
#pragma omp parallel num_threads(threads) firstprivate(round)
    {
#pragma omp for
      for (int i = 1; i < N - 1; i++) next[i] = 0.5 * field[i] + 0.25 * (field[i - 1] + field[i + 1]);
      if (is_loud(round)) {
#pragma omp for
        for (int i = 0; i < N; i++) table[where[i]] += round + i;
      } else {
#pragma omp barrier
      }
#pragma omp for
      for (int i = 1; i < N - 1; i++) field[i] = next[i];
      if (round % 12 == 11) {
        int value;
#pragma omp single copyprivate(value)
        value = round * 3;
#pragma omp critical
        if (value > copied) copied = value;
      }
#pragma omp master
      passed = 1;
    }
    if (round % 10 == 0 || is_loud(round) || round % 12 == 11)
      printf("%d: %.9g %d %d %d\n", round, field[N / 3], table[round], copied, passed);
  }
  double sum = 0;
  for (int i = 0; i < N; i++) sum += field[i] * (i % 7) + table[i];
  printf("%.12g\n", sum);
  return 0;
}
