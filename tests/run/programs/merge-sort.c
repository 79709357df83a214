// Merge sort with recursive tasks.
// threads: any
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void sort(int *a, int *work, int n) {
  if (n < 2) return;
  int half = n / 2;
#pragma omp task if (n > 300)
  sort(a, work, half);
#pragma omp task if (n > 300)
  sort(a + half, work + half, n - half);
#pragma omp taskwait
  for (int i = 0, j = half, k = 0; k < n; k++)
    work[k] = j == n || (i < half && a[i] <= a[j]) ? a[i++] : a[j++];
  memcpy(a, work, (size_t)n * sizeof *a);
}

int main(void) {
  enum { n = 8000 };
  int *a = malloc(n * sizeof *a), *work = malloc(n * sizeof *work), sorted = 1;
  for (int i = 0; i < n; i++) a[i] = (int)(i * 2654435761u % 100003);
#pragma omp parallel
#pragma omp single
  sort(a, work, n);
  for (int i = 1; i < n; i++) sorted &= a[i - 1] <= a[i];
  printf("%d %d %d %d\n", sorted, a[0], a[n / 2], a[n - 1]);
  free(a);
  free(work);
  return 0;
}
