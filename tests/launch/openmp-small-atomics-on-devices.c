// What is smaller than a word is updated by way of the word that it is in: what stands beside it there is copied, too.
//
// RUN: %okl-cc -O2 -fopenmp --okl-target=cuda,cpu --okl-strict %s -o %t
// RUN: for way in cpu cuda-emulated; do OKL_BACKEND=$way OMP_NUM_THREADS=2 %t | FileCheck %s || exit 1; done
// CHECK: 1023 15 3.5
#include <stdio.h>

// So much that not all of the program's variables are copied.
double large[20000] = {3.5};
unsigned short bits = 1;
unsigned char few = 1;

int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 1024; i++) {
#pragma omp atomic
    bits |= i;
  }
#pragma omp parallel for
  for (int i = 0; i < 16; i++) {
#pragma omp atomic
    few |= i;
  }
  printf("%d %d %g\n", bits, few, large[0]);
}
