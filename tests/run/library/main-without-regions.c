// A program that never opens a region.
// ranks: 0 1 3
// threads: any
#include <omp.h>
#include <stdio.h>

int main() {
  printf("%d %d %d\n", omp_get_num_threads(), omp_get_thread_num(), omp_in_parallel());
}
