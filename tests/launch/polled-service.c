// Where ranks on different nodes do not reach each other at an address of IP, requests go through MPI, and a rank looks
// for them again and again. That is said once, and everything still works: page faults, locks, atomics, output.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_SECTIONS=0 OKL_SOCKET_IFNAME=none OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 3 %t > %t.text 2>&1
// RUN: FileCheck --check-prefixes=POLLED,CHECK %s < %t.text
// RUN: env OKL_SECTIONS=0 OKL_SOCKET_IFNAME=^none OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 3 %t 2>&1 | FileCheck --check-prefixes=SOCKETS,CHECK %s
//
// SOCKETS-NOT: warning
// POLLED: okl: rank 0: warning: ranks on different nodes have no connection of their own: no chosen interface is up that has an IP address; so a thread of each rank asks MPI for requests every 20 us, which takes an eighth of a core. OKL_SOCKET_IFNAME names interfaces to use
// POLLED-NOT: warning
// CHECK: a thread
// CHECK-NEXT: a thread
// CHECK-NEXT: a thread
// CHECK-NEXT: 49995000 300 300
// CHECK-NOT: warning
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  int n = 10000, locked = 0, atomic = 0;
  double *a = malloc(n * sizeof *a), sum = 0;
  for (int i = 0; i < n; i++) a[i] = i;
#pragma omp parallel
  {
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += a[n - 1 - i];
    for (int i = 0; i < 100; i++) {
#pragma omp critical
      locked++;
#pragma omp atomic
      atomic++;
    }
    printf("a thread\n");
  }
  printf("%.15g %d %d\n", sum, locked, atomic);
  return 0;
}
