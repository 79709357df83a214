// A private array is too large for the stack of a rank's second thread.
// env: OKL_BACKEND=mpi
// ranks: 1 2
// opt: -O2
// flags: -g
// env: OMP_NUM_THREADS=2
// env: OMP_STACKSIZE=1M
// expect-exit: 70
// reference: none
// expect-stderr: the stack of a region is exhausted; raise OMP_STACKSIZE
// skip-with: OKL_VERIFY=1
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1 << 20 };

int main(void) {
  double *a = calloc(N, sizeof *a);
#pragma omp parallel
  {
    int me = omp_get_thread_num(), size = me == omp_get_num_threads() - 1 ? N : 10;
    double own[size];
    for (int i = 0; i < size; i++) own[i] = i * me;
    for (int i = 0; i < size; i += 1000) a[me] += own[i];
  }
  printf("%g\n", a[0]);
  return 0;
}
