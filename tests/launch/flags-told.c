// A solver that sweeps over planes by flags: who waits for a flag is told of it, and what it reads behind that comes along. So a
// plane takes one message each way, and it copies no row itself but in the first sweeps. Without `OKL_FLAGS=ranks`
// rank 0's threads run such a region.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 OKL_FLAGS=ranks OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck %s
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck --check-prefix=ALONE %s
// RUN: env OKL_STATS=1 OKL_FLAGS=alone OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck --check-prefix=ALONE %s
// The same where the ranks take turns on one processor: each is stopped now and then between two steps of a store.
// RUN: env OKL_FLAGS=ranks OKL_RANKS_PER_NODE=1 taskset -c 0 mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 %t 2>&1 | FileCheck --check-prefix=SUM %s
//
// CHECK-DAG: sum 4987.37
// SUM:   sum 4987.37
// ALONE-DAG: sum 4987.37
// ALONE-DAG: told directly 0 0{{$}}
// 40 sweeps over 8 planes; the rows of 300 numbers of most of them.
// CHECK-DAG: told directly {{[23][0-9][0-9] [23][0-9][0-9]$}}
// CHECK-DAG: bytes along {{0 [567][0-9][0-9][0-9][0-9][0-9]$}}
#include <stdio.h>

enum { ROWS = 20, COLUMNS = 300, PLANES = 8, SWEEPS = 40 };
static double grid[PLANES][ROWS + 2][COLUMNS];
static int ready[ROWS + 2];

static void sweep(int plane) {
#pragma omp for schedule(static) nowait
  for (int row = 1; row <= ROWS; row++) {
    if (row > 1)
      while (ready[row - 1] == 0) {
#pragma omp flush
      }
    if (row < ROWS)
      while (ready[row] == 1) {
#pragma omp flush
      }
    for (int i = 1; i < COLUMNS; i++)
      grid[plane][row][i] = grid[plane][row][i] * 0.5 + 0.2 * grid[plane][row - 1][i] + 0.3 * grid[plane][row][i - 1];
    if (row < ROWS)
      ready[row] = 1;
    if (row > 1)
      ready[row - 1] = 0;
  }
}

int main(void) {
  double sum = 0;
  for (int plane = 0; plane < PLANES; plane++)
    for (int row = 0; row < ROWS + 2; row++)
      for (int i = 0; i < COLUMNS; i++)
        grid[plane][row][i] = (plane + row * 5 + i * 3) % 11;
#pragma omp parallel
  for (int turn = 0; turn < SWEEPS; turn++) {
    for (int plane = 0; plane < PLANES; plane++)
      sweep(plane);
#pragma omp barrier
  }
  for (int plane = 0; plane < PLANES; plane++)
    for (int row = 0; row < ROWS + 2; row++)
      for (int i = 0; i < COLUMNS; i++)
        sum += grid[plane][row][i] / 53;
  printf("sum %.2f\n", sum);
}
