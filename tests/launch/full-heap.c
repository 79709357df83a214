// Where a rank's heap has no room the program gets a null pointer, and the user is told once: where, and what to do. What is
// more than the machine has nobody is told of.
//
// RUN: clang-22 -g -O1 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: mpirun --allow-run-as-root --oversubscribe -n 2 %t > %t.out 2> %t.log
// RUN: grep 'full 2 times, and of use again' %t.out
// RUN: FileCheck %s < %t.log
// RUN: mpirun --allow-run-as-root --oversubscribe -n 16 %t > %t.out 2> %t.log
// RUN: grep 'full 2 times, and of use again' %t.out
// RUN: FileCheck %s < %t.log
// CHECK-NOT: warning
// CHECK: okl: rank 1: warning: full-heap.c:[[# @LINE + 16]]: no room for 1073741824 bytes in the heap of rank 1, which has {{[0-9]+}} GiB; the program gets a null pointer. If it needs the memory, allocate it in serial code, where there are {{[0-9]+}} GiB, or start fewer ranks on a machine, with threads instead (okl-run --per socket){{$}}
// CHECK-NOT: warning
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  int full = 0, wrong = 0;
#pragma omp parallel reduction(+ : full, wrong)
  if (omp_get_thread_num() == 1) {
    void *volatile huge = malloc((size_t)1 << 62);
    wrong += huge != NULL;
    for (int round = 0; round < 2; round++) {
      void **last = NULL, **block;
      for (;;) {
        // The first that fails is told of.
        block = malloc((size_t)1 << 30);
        if (!block) break;
        *block = last;
        last = block;
      }
      full++;
      while (last) {
        block = *last;
        free(last);
        last = block;
      }
    }
  }
  printf("full %d times, and of use again%s\n", full, wrong ? ", but not always" : "");
  return 0;
}
