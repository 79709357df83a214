// The allocate directive and the allocate clause on private variables.
// threads: any
#include <omp.h>
#include <stdio.h>

static int global[100];
#pragma omp allocate(global) allocator(omp_default_mem_alloc)

int main(void) {
  int local[50];
#pragma omp allocate(local) allocator(omp_default_mem_alloc)
  int work[8], sum = 0;
#pragma omp parallel private(work) allocate(omp_default_mem_alloc : work)
  {
    for (int k = 0; k < 8; k++) work[k] = k;
#pragma omp for
    for (int i = 0; i < 100; i++) global[i] = i + work[i % 8];
#pragma omp for
    for (int i = 0; i < 50; i++) local[i] = global[2 * i];
  }
#pragma omp parallel for reduction(+ : sum) allocate(omp_default_mem_alloc : sum)
  for (int i = 0; i < 50; i++) sum += local[i];
  printf("%d\n", sum);
  return 0;
}
