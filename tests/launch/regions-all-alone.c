// A program in which each region writes what another rank has written in the one before, behind pointers of which nothing is
// known: page faults take most of its time on the ranks, and rank 0 runs its regions by itself soon. The team is as large
// there. Not so where it is told otherwise.
//
// RUN: clang-22 -O2 -DTIMES=150 -DLENGTH=8192 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_REGIONS_ALONE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN-ONCE-IN-5: env OKL_STATS=1 OKL_REGIONS_ALONE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: env OKL_REGIONS_ALONE=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN-ONCE-IN-5: env OKL_STATS=1 OKL_REGIONS_ALONE=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: env OKL_STATS=1 OKL_REGIONS_ALONE=0 mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck %s --check-prefix=NEVER
// RIGHT: {{^}}0 wrong, all threads
// ALONE: regions alone {{ *[1-9][0-9][0-9]+}} {{ *}}0
// NEVER-DAG: {{^}}0 wrong, all threads
// NEVER-DAG: regions alone {{ *}}0 {{ *}}0
#include "../run/regions/tables-that-move.c"
