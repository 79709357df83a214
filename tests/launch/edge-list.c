// Atomic operations beside an edge list that nobody writes: each rank copies a page of the list once, and not after each
// operation, of which there are 32000 on each.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 4000 2>&1 | FileCheck %s
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 100 2>&1 | FileCheck %s
// CHECK:       read faults {{[0-9]?[0-9] +[0-9]?[0-9]$}}
// CHECK-NEXT:  write faults {{0 +0$}}
#include "../run/synchronisation/edge-list.c"
