// omp_alloc, omp_aligned_alloc, omp_calloc, omp_realloc and allocators with traits.
// env: OKL_BACKEND=mpi
// threads: any
// reference: allocators.out
#include <omp.h>
#include <stdint.h>
#include <stdio.h>

int main(void) {
  enum { n = 1000 };
  omp_alloctrait_t traits[] = {{omp_atk_alignment, 256}, {omp_atk_fallback, omp_atv_default_mem_fb}};
  omp_allocator_handle_t own = omp_init_allocator(omp_default_mem_space, 2, traits);
  int *a = omp_alloc(n * sizeof *a, omp_default_mem_alloc);
  int *b = omp_calloc(n, sizeof *b, omp_large_cap_mem_alloc);
  int *c = omp_alloc(n * sizeof *c, own);
  int *d = omp_aligned_alloc(1024, n * sizeof *d, omp_null_allocator);
  int wrong = (uintptr_t)c % 256 != 0 || (uintptr_t)d % 1024 != 0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    a[i] = i;
    b[i] += i * 2;
    c[i] = a[i] + b[i];
    d[i] = c[i] - 1;
  }
  a = omp_realloc(a, 2 * n * sizeof *a, omp_default_mem_alloc, omp_default_mem_alloc);
#pragma omp parallel for reduction(+ : wrong)
  for (int i = 0; i < n; i++) {
    a[n + i] = d[i];
    wrong += a[i] != i;
    int *mine = omp_alloc(64, omp_thread_mem_alloc);
    mine[3] = i;
    wrong += mine[3] != i;
    omp_free(mine, omp_thread_mem_alloc);
  }
  long sum = 0;
  for (int i = 0; i < 2 * n; i++) sum += a[i];
  printf("%d %ld %d\n", wrong, sum, omp_get_default_allocator() == omp_default_mem_alloc);
  omp_free(a, omp_default_mem_alloc);
  omp_free(b, omp_large_cap_mem_alloc);
  omp_free(c, own);
  omp_free(d, omp_null_allocator);
  omp_destroy_allocator(own);
  return 0;
}
