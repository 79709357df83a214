// Several ranks fail at once, in the same way: the user is told once.
//
// RUN: clang-22 -O1 -g -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: (mpirun --allow-run-as-root --oversubscribe -n 4 %t 2>&1; mpirun --allow-run-as-root --oversubscribe -n 4 %t 2>&1; echo the end) | grep -e '^okl: ' -e 'the end' | FileCheck %s
//
// CHECK: segmentation fault at one-message.c:16: address 0x
// CHECK-NEXT: segmentation fault at one-message.c:16: address 0x
// CHECK-NEXT: the end
#include <stdio.h>

int main(void) {
  int *volatile nothing = NULL;
#pragma omp parallel
  {
#pragma omp barrier
    *nothing = 1;
  }
  return 0;
}
