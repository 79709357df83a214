// A region declares its accesses and ends with a reduction, beyond which tasks are still to run: what they access, nothing
// declares.
// threads: any
#include <stdio.h>

enum { N = 6000, ROUNDS = 4 };

static int a[N], b[N], few[6], one[1];

int main(void) {
  for (int round = 0; round < ROUNDS; round++) {
    double most = 0;
#pragma omp parallel reduction(max : most) num_threads(4)
    {
#pragma omp for nowait
      for (int i = 1; i < N - 1; i++) a[i] = b[i - 1] + 5 * b[i + 1] + round;
#pragma omp barrier
#pragma omp for
      for (int i = 1; i < N - 1; i++) {
        a[i] = 3 * a[i] + b[i] % 7;
        if (b[i] > most) most = b[i];
      }
#pragma omp single nowait
      {
#pragma omp task untied
        for (int i = 0; i < 1; i++) one[i] += round + 1;
#pragma omp task untied
        for (int i = 0; i < 6; i++) few[i] = few[i] * 3 + i + 1;
#pragma omp task
        for (int i = 0; i < N; i++) b[i] = b[i] % 1000 + i % 13;
      }
    }
    unsigned sum = 0;
    for (int i = 0; i < N; i++) sum = sum * 31 + a[i] * 7u + b[i];
    printf("%d: %g %u %d %d\n", round, most, sum, one[0], few[5]);
  }
  return 0;
}
