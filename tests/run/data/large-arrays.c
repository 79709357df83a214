// 64 MB of heap and static data, touched sparsely and in blocks.
// threads: any
#include <stdio.h>
#include <stdlib.h>

enum { n = 4 << 20 };
static int flags[n];

int main(void) {
  double *a = malloc(6 * (size_t)n * sizeof *a), sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (int i = 0; i < 6 * n; i += 4096) {
    a[i] = i;
    sum += a[i];
  }
#pragma omp parallel for
  for (int i = 0; i < n; i += 2048) flags[n - 1 - i] = i;
  for (int i = 0; i < n; i += 2048) sum += flags[n - 1 - i] + a[i * 6L / 4096 * 4096];
  // One dense block of 2 MB in the middle.
  double *middle = a + 3 * (size_t)n;
#pragma omp parallel for
  for (int i = 0; i < 1 << 18; i++) middle[i] = i * 0.5;
  for (int i = 0; i < 1 << 18; i += 1001) sum += middle[i];
  printf("%.1f\n", sum);
  free(a);
  return 0;
}
