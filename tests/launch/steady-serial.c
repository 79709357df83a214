// Serial code between small regions that reads fields of a structure, elements that are current on rank 0,
// and writes a field: no page changes its protection for that, however often it runs. What another rank wrote
// does.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 100 0 2>&1 | FileCheck --check-prefixes=SAME %s
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 300 0 2>&1 | FileCheck --check-prefixes=SAME %s
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 300 1 2>&1 | FileCheck --check-prefixes=OTHER %s
//
// SAME:      read faults 0 1
// SAME-NEXT: write faults 0 0
// Two of rank 0's are of its own pages that rank 1 writes first: of each array the part that is old then is closed.
// SAME:      protections 8 9
// OTHER:      read faults 300 1
// OTHER-NEXT: write faults 0 0
#include <stdio.h>
#include <stdlib.h>

struct grid {
  int n, sweeps;
  double *now, *next, sum;
};

static void sweep(struct grid *grid, int other) {
  int n = grid->n;
  double *now = grid->now, *next = grid->next;
#pragma omp parallel for
  for (int i = 1; i < n - 1; i++) next[i] = 0.25 * (now[i - 1] + now[i + 1]) + 0.5;
  grid->now = next;
  grid->next = now;
  grid->sum += next[1];
  grid->sweeps++;
  if (other) grid->sum += next[n - 2];
}

int main(int argc, char **argv) {
  int sweeps = argc > 1 ? atoi(argv[1]) : 10, other = argc > 2 && atoi(argv[2]);
  struct grid *grid = malloc(sizeof *grid);
  *grid = (struct grid){10000, 0, calloc(10000, 8), calloc(10000, 8), 0};
  for (int i = 0; i < sweeps; i++) sweep(grid, other);
  printf("%g\n", grid->sum);
  return grid->sweeps != sweeps;
}
