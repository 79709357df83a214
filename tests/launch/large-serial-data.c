// What serial code allocates may be as large as the machine's memory on any number of ranks: address space for that is
// there, and what is not touched takes no memory.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck %s
// RUN: mpirun --allow-run-as-root --oversubscribe -n 32 %t 2>&1 | FileCheck %s
// CHECK: 36 parts, the same in all
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PARTS = 36 };

int main(void) {
  size_t memory = (size_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE), part = memory / PARTS / 8 * 8;
  char *all[PARTS];
  int parts = 0, same = 0;
  for (; parts < PARTS; parts++) {
    all[parts] = malloc(part);
    if (!all[parts]) break;
    all[parts][part - 1] = (char)parts;
  }
#pragma omp parallel for reduction(+ : same)
  for (int i = 0; i < parts; i++) same += all[i][part - 1] == i;
  printf("%d parts, %s\n", parts, same == parts ? "the same in all" : "others in some");
  return 0;
}
