// Heap memory of many sizes from malloc, calloc, realloc, aligned_alloc and posix_memalign.
// threads: any
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  unsigned long hash = 1;
  for (size_t n = 1; n < 300000; n = n * 3 + 5) {
    int *a = malloc(n * sizeof *a), *b = calloc(n, sizeof *b), *c = NULL;
    void *aligned = aligned_alloc(64, (n * 8 + 63) / 64 * 64), *paged = NULL;
    if (posix_memalign(&paged, 4096, n * sizeof(int)) != 0) return 1;
    int *d = paged;
    long *e = aligned;
    if ((uintptr_t)e % 64 || (uintptr_t)d % 4096) return 2;
    for (size_t i = 0; i < n; i++) a[i] = (int)i;
#pragma omp parallel for
    for (size_t i = 0; i < n; i++) {
      b[i] += a[n - 1 - i];
      d[i] = b[i] * 2;
      e[i] = d[i] + (long)i;
    }
    c = realloc(b, 2 * n * sizeof *c);
    memset(c + n, 1, n * sizeof *c);
#pragma omp parallel for
    for (size_t i = 0; i < n; i++) c[n + i] -= c[i];
    for (size_t i = 0; i < n; i += n / 50 + 1)
      hash = hash * 31 + (unsigned long)(c[i] + c[n + i] + d[i]) + (unsigned long)e[i];
    c = realloc(c, n / 2 * sizeof *c + 1);
    hash += (unsigned)c[0];
    free(a);
    free(c);
    free(aligned);
    free(paged);
  }
  printf("%lx\n", hash);
  return 0;
}
