// Regions that enter critical sections or take locks in short turns rank 0 runs by itself, in teams as large as on the ranks:
// two in each of three rounds. Not so where it is told otherwise, nor where it is not known where the section ends.
//
// RUN: clang++-22 -O2 -std=c++17 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 OKL_REGIONS_ALONE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: env OKL_STATS=1 OKL_REGIONS_ALONE=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: env OKL_STATS=1 OKL_REGIONS_ALONE=0 mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck %s --check-prefix=NEVER
// ALONE: regions alone {{ *}}[[#]] {{ *}}0
// ALONE: locks {{ *[0-9]?[0-9]?[0-9] +[0-9]?[0-9]?[0-9]$}}
// NEVER: regions alone {{ *}}0 {{ *}}0
// NEVER: locks {{ *}}[[#]] {{ *}}{{[1-9][0-9][0-9][0-9]+}}
#include "../run/synchronisation/criticals-in-short-loops.cpp"
