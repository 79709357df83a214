// A region that is reached after MPI has ended, from the destructor of a library that okl has not translated, has a team of
// one: the other ranks are gone. One that the program registers for its end still has them.
//
// RUN: clang-22 -O1 -fPIC -DLIBRARY -shared %s -o %t.so
// RUN: clang-22 -O1 -g -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -Wl,--no-as-needed %t.so -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: (timeout 60 mpirun --allow-run-as-root --oversubscribe -n 2 %t; echo "ends with $?") 2>&1 | FileCheck --match-full-lines --implicit-check-not=okl: %s
//
// CHECK:      sum 499500 of 2
// CHECK-NEXT: sum 499500 of 2
// CHECK-NEXT: sum 499500 of 1
// CHECK-NEXT: ends with 0
#include <stdio.h>
#include <stdlib.h>
void at_the_end(void (*)(void));
#ifdef LIBRARY
static void (*registered)(void);
void at_the_end(void (*function)(void)) { registered = function; }
__attribute__((destructor)) static void end(void) { registered(); }
#else
#include <omp.h>
static void say_sum(void) {
  int sum = 0, threads = 0;
#pragma omp parallel reduction(+ : sum)
  {
#pragma omp single
    threads = omp_get_num_threads();
#pragma omp for
    for (int i = 0; i < 1000; i++) sum += i;
  }
  printf("sum %d of %d\n", sum, threads);
  fflush(stdout);
}
int main(void) {
  at_the_end(say_sum);
  atexit(say_sum);
  say_sum();
}
#endif
