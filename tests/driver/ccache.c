// ccache before the driver: the second compilation comes from its cache, and another option does not.
//
// REQUIRES: ccache
// RUN: split-file %s %t.d && cd %t.d && for run in 1 2; do CCACHE_DIR=%t.cache ccache %okl-cc -O1 -fopenmp -MD -c sum.c; done
// RUN: cd %t.d && CCACHE_DIR=%t.cache ccache %okl-cc -O1 -fopenmp --okl-target=cpu -c sum.c -o cpu.o
// RUN: CCACHE_DIR=%t.cache ccache --print-stats | FileCheck --check-prefix=STATISTICS %s
// STATISTICS-DAG: direct_cache_hit{{[[:space:]]}}1
// STATISTICS-DAG: cache_miss{{[[:space:]]}}2
// RUN: cd %t.d && nm cpu.o | FileCheck --check-prefix=PLAIN %s && FileCheck --check-prefix=NEEDS %s <sum.d
// PLAIN: __kmpc_fork_call
// NEEDS: sum.o: sum.c
// RUN: cd %t.d && %okl-cc main.c --okl-target=mpi sum.o -o prog && %launch -n 2 ./prog | FileCheck %s
// CHECK: 2 threads, sum 5050

//--- sum.c
#include <omp.h>

int sum(int n, int *threads) {
  int total = 0;
#pragma omp parallel for reduction(+ : total)
  for (int i = 1; i <= n; i++) {
    total += i;
    if (i == n) *threads = omp_get_num_threads();
  }
  return total;
}

//--- main.c
#include <stdio.h>

int sum(int n, int *threads);

int main(void) {
  int threads = 0;
  int total = sum(100, &threads);
  printf("%d threads, sum %d\n", threads, total);
  return 0;
}
