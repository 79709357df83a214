// Look-ups by random index in a table of 512 pages that serial code filled: faults fetch blocks that grow, in any order,
// and not a page each.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 262144 100000 2>&1 | FileCheck %s
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 262144 100000 2>&1 | FileCheck %s
// CHECK:      read faults {{0 +[0-9]?[0-9]$}}
// CHECK-NEXT: write faults {{0 +0$}}
// CHECK-NEXT: pages fetched {{0 +5[0-9][0-9]$}}
#include "../run/synchronisation/table-look-up.c"
