// Who runs a region whose threads wait for flags: on one node rank 0's threads, and so on several the first time. Where that
// computes for long between two flags the ranks run it from then on, if they have a processor each.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 OKL_REGIONS_ALONE=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 %t 2>&1 | FileCheck %s
// RUN: env OKL_STATS=1 OKL_REGIONS_ALONE=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 %t 0 2>&1 | FileCheck --check-prefix=SHORT %s
// RUN: env OKL_STATS=1 OKL_REGIONS_ALONE=1 OKL_RANKS_PER_NODE=1 taskset -c 0 mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 %t 2>&1 | FileCheck --check-prefix=ALONE %s
// RUN: env OKL_STATS=1 OKL_REGIONS_ALONE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck --check-prefix=NODE %s
// RUN: env OKL_STATS=1 OKL_REGIONS_ALONE=0 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck --check-prefix=RANKS %s
//
// CHECK-DAG: sum 4989.04
// CHECK-DAG: regions alone 1 0{{$}}
// CHECK-DAG: told directly {{[1-9][0-9]+ [1-9][0-9]+$}}
// Whether that is short goes by time: on a busy machine it may not be.
// SHORT-DAG: sum 4981.13
// ALONE-DAG: sum 4989.04
// ALONE-DAG: regions alone 4 0{{$}}
// ALONE-DAG: told directly 0 0{{$}}
// NODE-DAG: sum 4989.04
// NODE-DAG: told directly 0 0{{$}}
// RANKS-DAG: sum 4989.04
// RANKS-DAG: regions alone 0 0{{$}}
// RANKS-DAG: told directly {{[1-9][0-9]+ [1-9][0-9]+$}}
#include <stdio.h>

enum { ROWS = 20, COLUMNS = 300, PLANES = 8, TIMES = 4 };
static double grid[PLANES][ROWS + 2][COLUMNS];
static int ready[ROWS + 2];

static void sweep(int plane, int work) {
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
    for (int turn = 0; turn < work; turn++)
      for (int i = 1; i < COLUMNS; i++)
        grid[plane][row][i] = grid[plane][row][i] * 0.5 + 0.2 * grid[plane][row - 1][i] + 0.3 * grid[plane][row][i - 1];
    if (row < ROWS)
      ready[row] = 1;
    if (row > 1)
      ready[row - 1] = 0;
  }
}

int main(int argc, char **argv) {
  int work = argc > 1 ? 0 : 200, turns = argc > 1 ? 100 : 2;
  double sum = 0;
  for (int plane = 0; plane < PLANES; plane++)
    for (int row = 0; row < ROWS + 2; row++)
      for (int i = 0; i < COLUMNS; i++)
        grid[plane][row][i] = (plane + row * 5 + i * 3) % 11;
  for (int time = 0; time < TIMES; time++)
#pragma omp parallel
    for (int turn = 0; turn < turns; turn++) {
      for (int plane = 0; plane < PLANES; plane++)
        sweep(plane, work);
#pragma omp barrier
    }
  for (int plane = 0; plane < PLANES; plane++)
    for (int row = 0; row < ROWS + 2; row++)
      for (int i = 0; i < COLUMNS; i++)
        sum += grid[plane][row][i] / 53;
  printf("sum %.2f\n", sum);
  (void)argv;
}
