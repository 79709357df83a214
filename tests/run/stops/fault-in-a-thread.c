// A thread that is not the first of its rank follows a null pointer.
// env: OKL_BACKEND=mpi
// ranks: 1 2
// opt: -O2
// flags: -g
// env: OMP_NUM_THREADS=2
// expect-exit: failure
// reference: none
// expect-stderr: segmentation fault at fault-in-a-thread.c:20: address 0x
// skip-with: OKL_VERIFY=1
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  double *a = malloc(1000 * sizeof *a), *nothing = argc > 5 ? a : NULL;
#pragma omp parallel
  {
    int me = omp_get_thread_num();
    if (me == omp_get_num_threads() - 1) nothing[me] = 1;
    a[me] = 1;
  }
  printf("%g\n", a[0]);
  return 0;
}
