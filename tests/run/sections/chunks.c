// Chunks of a fixed length, whose owner is another one in each loop: clipped at the end, of one iteration,
// fewer than ranks, longer than the loop, backwards, in steps, and of what is stored behind the array's end.
// threads: any
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1500, WIDE = 9 };
static double a[MOST + 8], table[MOST][WIDE];

// A function of its own, with a loop that the region it is called from shares out.
__attribute__((noinline)) static void scale(double *x, unsigned n, int chunk) {
#pragma omp for schedule(static, chunk)
  for (unsigned i = 0; i < n; i++) x[i] = 0.5 * x[i] + i;
}

static double run(int n, int chunk, double *b, double *c) {
  double sum = 0;
  for (int step = 0; step < 3; step++) {
#pragma omp parallel for schedule(static, chunk)
    for (int i = 0; i < n; i++) b[i] = a[n - 1 - i] + step;
#pragma omp parallel for schedule(static, 3)
    for (int i = n - 1; i >= 1; i--) a[i] = b[i] + b[i - 1];
#pragma omp parallel for schedule(static, 1)
    for (long i = 0; i < n; i += 2) c[i] = a[i] - 1;
#pragma omp parallel for schedule(static, chunk) lastprivate(sum)
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < WIDE; j++) table[i][j] = c[i] + j;
      sum = c[i];
    }
#pragma omp parallel
    {
      scale(b, n, chunk);
      scale(c, n, 2);
#pragma omp for schedule(static, 4) collapse(2)
      for (int i = 0; i < n; i++)
        for (int j = 0; j < WIDE - 1; j++) table[i][j] += table[i][WIDE - 1];
#pragma omp for simd schedule(static, 5)
      for (int i = 0; i < n; i++) a[i] = b[i] + c[i] + table[i][3];
    }
  }
  for (int i = 0; i < MOST; i++) sum = 0.999 * sum + a[i] + b[i] - c[i] + table[i][i % WIDE];
  return sum;
}

int main(void) {
  double *b = malloc(MOST * sizeof *b), *c = malloc(MOST * sizeof *c);
  for (int i = 0; i < MOST; i++) b[i] = c[i] = i % 5;
  int sizes[] = {0, 1, 3, 100, 511, 1499}, chunks[] = {1, 5, 64, 2000000000};
  for (int s = 0; s < 6; s++)
    for (int k = 0; k < 4; k++) printf("%d %d: %.12g\n", sizes[s], chunks[k], run(sizes[s], chunks[k], b, c));
  printf("%g %g\n", a[MOST], a[MOST + 7]);
  return 0;
}
