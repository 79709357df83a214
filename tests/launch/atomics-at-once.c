// Regions whose atomic accesses follow on each other fast rank 0 runs by itself, in teams as large as on the ranks, on one
// machine and on several: two while the graph is built, and one at each distance. (On the ranks each of the 32000
// operations is a page fault or two.) Not so where it is told otherwise, and where threads have variables of their own.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: clang-22 -O2 -DKEEPS -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t.keeps
// RUN: env OKL_STATS=1 OKL_REGIONS_ALONE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 2000 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: env OKL_STATS=1 OKL_REGIONS_ALONE=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 2000 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: env OKL_STATS=1 OKL_REGIONS_ALONE=1 OMP_NUM_THREADS=2 mpirun --allow-run-as-root --oversubscribe -n 2 %t 2000 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: env OKL_STATS=1 OKL_REGIONS_ALONE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t.keeps 100 2>&1 | FileCheck %s --check-prefix=NEVER
// RUN: env OKL_STATS=1 OKL_REGIONS_ALONE=0 mpirun --allow-run-as-root --oversubscribe -n 2 %t 100 2>&1 | FileCheck %s --check-prefix=NEVER
// ALONE-DAG: 0 wrong
// ALONE-DAG: regions alone {{ *}}[[#]] {{ *}}0
// ALONE-DAG: atomics {{ *}}0 {{ *}}0
// ALONE-DAG: write faults {{ *[0-9]?[0-9]?[0-9] +[0-9]?[0-9]?[0-9]$}}
// NEVER-DAG: 0 wrong
// NEVER-DAG: regions alone {{ *}}0 {{ *}}0
#ifdef KEEPS
_Thread_local int kept = 1;
#endif
#include "../run/synchronisation/at-once.c"
