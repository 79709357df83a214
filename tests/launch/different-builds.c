// Ranks of different builds are refused before anything runs.
//
// RUN: clang-22 -O1 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t.one
// RUN: clang-22 -O1 -DOTHER -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t.other
// RUN: not mpirun --allow-run-as-root --oversubscribe -n 1 %t.one : -n 1 %t.other 2>&1 | FileCheck %s
//
// Also where the linker writes no build ID.
//
// RUN: clang-22 -O1 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -Wl,--build-id=none -o %t.one
// RUN: clang-22 -O1 -DOTHER -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -Wl,--build-id=none -o %t.other
// RUN: not mpirun --allow-run-as-root --oversubscribe -n 1 %t.one : -n 1 %t.other 2>&1 | FileCheck %s
//
// CHECK: rank 0 and rank 1 run different builds of the program
#include <stdio.h>

int main(void) {
#ifdef OTHER
  puts("other");
#endif
  return 0;
}
