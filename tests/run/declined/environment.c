// setenv in a region, read again in serial code.
// threads: any
// warns: parallel region runs on rank 0 alone: it calls setenv, which keeps state in the C library
#include <stdio.h>
#include <stdlib.h>

int main(void) {
#pragma omp parallel
  {
#pragma omp single
    setenv("OKL_TEST_SET", "in the region", 1);
  }
  printf("%s\n", getenv("OKL_TEST_SET"));
  return 0;
}
