// Limits that leave no room for the shared memory: a message says what to look at. (At this point each
// rank has to speak for itself.)
//
// RUN: clang-22 -O1 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: not mpirun --allow-run-as-root --oversubscribe -n 2 bash -c 'ulimit -v 8000000; exec %t' > %t.log 2>&1
// RUN: (sed -n -e 's/^okl: rank [01]: //p' -e '/printed/p' %t.log | sort -u; echo the end) | FileCheck %s
//
// CHECK: no address space for {{[0-9]+}} GiB of shared memory: {{.*}}; is it limited (ulimit -v)?
// CHECK-NEXT: the end
#include <stdio.h>

int main(void) {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += i;
  printf("printed %d\n", sum);
  return 0;
}
