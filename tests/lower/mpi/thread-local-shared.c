// A variable of each thread that files with and without the plugin share: ranks have copies of their own, which the other files'
// code does not find. The linker says so.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi -c %s -o %t.o && clang-22 -O2 -DUSES -c %s -o %t.uses.o && clang-22 -O2 -DDEFINES -c %s -o %t.defines.o
// RUN: not clang-22 -fopenmp %t.o %t.uses.o -L%runtime-dir -lokl_mpi -o %t 2>&1 | FileCheck --check-prefix=USES %s
// RUN: clang-22 -O2 -DEXTERN=extern -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi -c %s -o %t.o && not clang-22 -fopenmp %t.o %t.defines.o -L%runtime-dir -lokl_mpi -o %t 2>&1 | FileCheck --check-prefix=DEFINES %s
// One of which several files have definitions, as C++'s inline variables:
// RUN: clang-22 -O2 '-DEXTERN=__attribute__((weak))' -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi -c %s -o %t.o && clang-22 -O2 -DDEFINES '-DWEAK=__attribute__((weak))' -c %s -o %t.defines.o && not clang-22 -fopenmp %t.o %t.defines.o -L%runtime-dir -lokl_mpi -o %t 2>&1 | FileCheck --check-prefix=WEAK %s
// Where the OpenMP run time is asked for copies, as by Fortran, the other files' code gets those of the ranks:
// RUN: clang-22 -O2 -DASKED -fnoopenmp-use-tls -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi -c %s -o %t.o && clang-22 -O2 -DUSES -DASKED -fnoopenmp-use-tls -fopenmp -c %s -o %t.uses.o && clang-22 -fopenmp %t.o %t.uses.o -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t && for n in 1 2; do OMP_NUM_THREADS=1 mpirun --allow-run-as-root --oversubscribe -n $n %t; done | FileCheck --check-prefix=RIGHT %s
// All of them with the plugin:
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi -c %s -o %t.o
// RUN: clang-22 -O2 -DUSES -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi -c %s -o %t.uses.o && clang-22 -fopenmp %t.o %t.uses.o -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t && for n in 1 2; do OMP_NUM_THREADS=1 mpirun --allow-run-as-root --oversubscribe -n $n %t; done | FileCheck --check-prefix=RIGHT %s
//
// USES: undefined reference to `count'
// DEFINES: undefined reference to `okl.tp.count'
// WEAK: count: TLS {{.*}} mismatches non-TLS definition in {{.*}}
// RIGHT:      100 101
// RIGHT-NEXT: 50 51
#ifdef ASKED
#define _Thread_local
#endif
#ifdef USES
extern _Thread_local int count;
#ifdef ASKED
#pragma omp threadprivate(count)
#endif
void raise_it(void) { count++; }
#elif defined DEFINES
#ifndef WEAK
#define WEAK
#endif
WEAK _Thread_local int count;
void raise_it(void) { count++; }
#else
#include <stdio.h>
#ifndef EXTERN
#define EXTERN
#endif
EXTERN _Thread_local int count;
#ifdef ASKED
#pragma omp threadprivate(count)
#endif
void raise_it(void);
int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) count++;
  printf("%d ", count);
  raise_it();
  printf("%d\n", count);
}
#endif
