// Each rank writes places of its own in pages that both write, between atomic operations: a rank loses its copy of a page
// only where the other one has written there since, and looks for changes in the few pages that it writes. (Each of
// the 8000 operations on rank 1 was two faults.)
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 2000 2>&1 | FileCheck %s
// CHECK:       read faults {{[0-9]+ +[0-9]?[0-9]?[0-9]$}}
// CHECK-NEXT:  write faults {{[0-9]?[0-9]?[0-9]?[0-9] +[0-9]?[0-9]?[0-9]?[0-9]$}}
#include "../run/synchronisation/graph-building.c"
