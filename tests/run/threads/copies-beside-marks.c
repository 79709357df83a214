// One thread of a rank stores at computed places of an array that another rank wrote, while another one of the same rank reads
// between these places.
// opt: -O2
// threads: any
#include <omp.h>
#include <stdio.h>

enum { N = 1 << 16, ROUNDS = 10 };

static int a[N], places[N / 2], others[N / 2];

int main(void) {
  long sum = 0;
  int wrong = 0;
  for (int i = 0; i < N / 2; i++) {
    places[i] = 2 * i;
    others[i] = 2 * i + 1;
  }
  for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(4)
    {
      int last = omp_get_num_threads() - 1, reader = last > 1 ? 1 : last;
      if (omp_get_thread_num() == last)
        for (int i = 0; i < N; i++) a[i] = round + i;
#pragma omp barrier
      if (omp_get_thread_num() == 0)
        for (int i = 0; i < N / 2; i++) a[places[i]] = round * 3 + i % 7;
      if (omp_get_thread_num() == reader) {
        long own = 0;
        for (int i = 0; i < N / 2; i++) own += a[others[i]];
        sum += own;
      }
    }
    for (int i = 0; i < N; i++) wrong += a[i] != (i % 2 ? round + i : round * 3 + i / 2 % 7);
  }
  printf("%d wrong, sum %ld\n", wrong, sum);
  return 0;
}
