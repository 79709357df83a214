// A function of an object that was not compiled with the plugin may keep state of its own: the region
// that calls it runs on rank 0 alone, and the user is told.
//
// RUN: clang-22 -O1 -DLIBRARY -c %s -o %t.library.o
// RUN: clang-22 -O1 -g -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s %t.library.o -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | LC_ALL=C sort | FileCheck %s
// Without debug information the region is named by its function.
// RUN: clang-22 -O1 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s %t.library.o -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck --check-prefix=NOLINE %s
//
// NOLINE: the parallel region in function main runs on rank 0 alone: it calls next
// CHECK: the parallel region at {{.*}}untranslated-callee.c:26 runs on rank 0 alone: it calls next (in {{.*}}), which was not compiled with okl and may keep state of its own
// CHECK: sum 5050
int next(void);

#ifdef LIBRARY
int next(void) {
  static int last;
  return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}
#else
#include <stdio.h>

int main(void) {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += next();
  printf("sum %d\n", sum);
  return 0;
}
#endif
