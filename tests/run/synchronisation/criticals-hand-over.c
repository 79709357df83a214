// Each thread fills a row of its own and takes a number under a lock; those with later ones read the row in a loop, without
// a barrier between them. What was sent at the last barrier, because these copies are always the same, is not what they need.
// threads: any
#include <omp.h>
#include <stdio.h>

enum { n = 2000, m = 9000, rounds = 6 };
static double rows[64][n], a[m];
static int count, order[64];

int main(void) {
  int wrong = 0;
  for (int t = 0; t < rounds; t++) {
    count = 0;
#pragma omp parallel reduction(+ : wrong)
    {
      int number, me = omp_get_thread_num();
#pragma omp for nowait
      for (int i = 0; i < m; i++) a[i] = i + t;
      for (int i = 0; i < n; i++) rows[me][i] = i + t;
#pragma omp critical
      {
        number = count;
        order[count++] = me;
      }
      double sum = 0;
      for (int k = 0; k < number; k++)
        for (int i = 0; i < n; i++) sum += rows[order[k]][i];
      wrong += sum != number * (n * (n - 1.0) / 2 + n * t);
    }
    double sum = 0;
    for (int i = 0; i < m; i++) sum += a[i];
    printf("%d %g\n", wrong, sum);
  }
}
