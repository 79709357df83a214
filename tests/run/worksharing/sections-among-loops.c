// Sections, code for one thread and loops in one region, which write single elements of arrays, too.
// threads: any
#include <stdio.h>

enum { N = 100 };
static double a[N], b[N];
static int few[4];

static double all(int steps) {
  double sum = 0;
  int x = 0, y = 0;
#pragma omp parallel
  {
#pragma omp master
    x = 3;
#pragma omp barrier
#pragma omp single
    y = x + 1;
    for (int t = 0; t < steps; t++) {
#pragma omp sections
      {
#pragma omp section
        a[0] += y;
#pragma omp section
        a[1] = 2 * y + t;
#pragma omp section
        few[2] += few[3] + 1;
      }
#pragma omp for
      for (int i = 2; i < N; i++) a[i] = i * y + x + b[i];
#pragma omp for
      for (int i = 0; i < 2; i++) {
        if (i) b[7] = a[1];
        else b[3] += a[0] + few[2];
      }
#pragma omp for
      for (int i = 0; i < N; i++) {
      }
    }
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < N; i++) sum += a[i] * (1 + i % 5) + b[i];
  }
  return sum;
}

int main(void) {
  few[3] = 2;
  printf("%.1f", all(4));
  printf(" %.1f %d\n", all(3), few[2]);
}
