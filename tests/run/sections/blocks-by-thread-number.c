// Blocks from the thread number, in one region that stays open over all steps, with pointers swapped in it.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  enum { n = 240, steps = 30 };
  double *field[2] = {calloc(n * n, sizeof(double)), calloc(n * n, sizeof(double))};
  for (int j = 0; j < n; j++) field[0][j] = field[1][j] = j;
#pragma omp parallel
  {
    int threads = omp_get_num_threads(), me = omp_get_thread_num();
    int first = 1 + (n - 2) * me / threads, last = 1 + (n - 2) * (me + 1) / threads;
    double *from = field[0], *to = field[1];
    for (int step = 0; step < steps; step++) {
      for (int i = first; i < last; i++)
        for (int j = 1; j < n - 1; j++)
          to[i * n + j] = 0.25 * (from[(i - 1) * n + j] + from[(i + 1) * n + j] + from[i * n + j - 1] +
                                  from[i * n + j + 1]);
#pragma omp barrier
      double *swap = from;
      from = to;
      to = swap;
    }
  }
  double sum = 0;
  for (int i = 0; i < n * n; i++) sum = sum * 0.9999 + field[0][i] * 3 + field[1][i];
  printf("%.15g\n", sum);
  free(field[0]);
  free(field[1]);
  return 0;
}
