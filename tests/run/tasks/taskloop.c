// taskloop with grainsize, num_tasks, collapse, nogroup, lastprivate and every loop form.
// threads: any
#include <stdio.h>

int main(void) {
  static int a[200], b[12][15];
  int last = -1, base = 7;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop
    for (int i = 0; i < 200; i++) a[i] = i;
#pragma omp taskloop grainsize(13) firstprivate(base) lastprivate(last)
    for (int i = 199; i >= 0; i--) {
      a[i] += base;
      last = i;
    }
#pragma omp taskloop num_tasks(7)
    for (unsigned long i = 5; i < 200; i += 3) a[i] *= 2;
#pragma omp taskloop collapse(2) grainsize(strict : 10)
    for (int i = 0; i < 12; i++)
      for (int j = 0; j < 15; j++) b[i][j] = i * 100 + j;
#pragma omp taskloop nogroup if (base > 100)
    for (int i = 0; i < 12; i++) b[i][0] = -i;
#pragma omp taskwait
#pragma omp taskloop simd
    for (int i = 0; i < 200; i++) a[i] += 1;
  }
  long sum = 0;
  for (int i = 0; i < 200; i++) sum = sum * 3 % 1000003 + a[i];
  for (int i = 0; i < 180; i++) sum = sum * 3 % 1000003 + b[i / 15][i % 15] + 11;
  printf("%ld %d\n", sum, last);
  return 0;
}
