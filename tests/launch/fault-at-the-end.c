// A fault after MPI has ended, in the destructor of a library that is not okl's, is told like any other, and the job ends
// with okl's status.
//
// RUN: clang-22 -O0 -g -fPIC -DLIBRARY -shared %s -o %t.so
// RUN: clang-22 -O1 -g -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -Wl,--no-as-needed %t.so -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: (mpirun --allow-run-as-root --oversubscribe -n 2 %t; echo "ends with $?") 2>&1 | LC_ALL=C sort | FileCheck --match-full-lines --implicit-check-not=MPI_ --implicit-check-not=okl: %s
//
// CHECK: ends with 70
// CHECK: okl: rank 0: segmentation fault at {{.*}}fault-at-the-end.c:[[#@LINE+6]]{{.*}}: address 0x0 (no memory of the program: a null or stray pointer) was written
// CHECK: sum 499500
#include <stdio.h>
#ifdef LIBRARY
static volatile int *volatile nowhere;
__attribute__((destructor)) static void end(void) {
  *nowhere = 1;
}
#else
int main(void) {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 1000; i++) sum += i;
  printf("sum %d\n", sum);
}
#endif
