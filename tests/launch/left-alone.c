// A file that was compiled without -fopenmp, and with no word on where loops go, may be one of another kind of program:
// it stays as it is. In an OpenMP program it would have variables that nobody shares, so that it is refused; and where
// it has main, the program did not start as it should. On one rank that is no matter.
//
// RUN: clang-22 -O1 -fpass-plugin=%plugin -DMAIN -c %s -o %t.main.o
// RUN: clang-22 -O1 -fopenmp -fpass-plugin=%plugin -DMAIN -c %s -o %t.lowered-main.o
// RUN: clang-22 -O1 -fpass-plugin=%plugin -DOTHER -c %s -o %t.other.o
// RUN: clang-22 -O1 -fpass-plugin=%plugin -mllvm -okl-target=mpi -DOTHER -c %s -o %t.lowered-other.o
// RUN: clang-22 -O1 -g -fopenmp -fpass-plugin=%plugin -c %s -o %t.region.o
// RUN: clang-22 -fopenmp %t.lowered-main.o %t.lowered-other.o %t.region.o -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: mpirun --allow-run-as-root --oversubscribe -n 2 %t | FileCheck %s
// RUN: clang-22 -fopenmp %t.lowered-main.o %t.other.o %t.region.o -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: (not mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1) | FileCheck --check-prefix=OTHER %s
// RUN: clang-22 -fopenmp %t.main.o %t.lowered-other.o %t.region.o -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: %t | FileCheck %s
// RUN: (not env OKL_BACKEND=mpi %t 2>&1) | FileCheck --check-prefix=MAIN %s
// RUN: (not env OKL_BACKEND=mpi %t ask 2>&1) | FileCheck --check-prefix=ASKS --implicit-check-not=panicked %s
//
// CHECK: 4950
// OTHER: left-alone.c was compiled without -fopenmp, and left as it was: compile all of the program's sources with -fopenmp, or with -mllvm -okl-target=mpi (okl-cc --okl-target=mpi)
// ASKS: a file with OpenMP was compiled for the ranks of an MPI job, but main was not: compile the file of main with the plugin and with -fopenmp, or this one with -mllvm -okl-target=cpu
// MAIN: left-alone.c:[[#@LINE+21]]: this region was compiled for the ranks of an MPI job, but main was not: compile the file of main with the plugin and with -fopenmp, or this one with -mllvm -okl-target=cpu
#ifdef MAIN
#include <stdio.h>

int sum(void);
int most(void);
int main(int argc, char **argv) {
  printf("%d\n", argc > 1 ? most() : sum());
  return 0;
}
#elif defined OTHER
int values[100];
#else
#include <omp.h>

extern int values[100];
int most(void);
int most(void) { return omp_get_max_threads(); }
int sum(void);
int sum(void) {
  int total = 0;
#pragma omp parallel for
  for (int k = 0; k < 100; k++)
    values[k] = k;
#pragma omp parallel for reduction(+ : total)
  for (int k = 0; k < 100; k++)
    total += values[k];
  return total;
}
#endif
