// A cycle over the grids of a solver. On the way down and on the way up the ranks know the same of each grid, and what
// follows differs: that depends on where they were before. So what neighbours exchange goes along with the messages by which
// they meet, two for each region, here as everywhere: 14 regions in a cycle, 28 messages.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 12 2>&1 | FileCheck --check-prefixes=SAME,SHORT %s
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 32 2>&1 | FileCheck --check-prefixes=SAME,LONG %s
//
// SAME-DAG: {{^}}0 wrong
// Before that what each grid's neighbours exchange goes by itself once; how often depends a little on who is first.
// SHORT-DAG: {{^ *}}messages {{(29|30)[0-9] 2[456][0-9]$}}
// LONG-DAG: {{^ *}}messages {{(57|58)[0-9] 5[234][0-9]$}}
#include <stdio.h>
#include <stdlib.h>

enum { GRIDS = 3, SMALLEST = 64 };

static long *u[GRIDS], *f[GRIDS], *other[GRIDS];
static int is_serial;

static int size(int grid) { return SMALLEST << (GRIDS - 1 - grid); }

static void smooth(int n, const long *from, const long *f, long *to) {
#pragma omp parallel for if (!is_serial)
  for (int i = 1; i < n - 1; i++) to[i] = (from[i - 1] + from[i + 1] + f[i]) % 1009;
}

static void restrict_to(int n, const long *fine, long *f, long *u) {
#pragma omp parallel for if (!is_serial)
  for (int i = 1; i < n - 1; i++) {
    f[i] = (fine[2 * i - 1] + fine[2 * i] + fine[2 * i + 1]) % 1009;
    u[i] = 0;
  }
}

static void correct(int n, const long *coarse, long *u) {
#pragma omp parallel for if (!is_serial)
  for (int i = 1; i < n - 1; i++) u[i] = (u[i] + coarse[i / 2] + coarse[(i + 1) / 2]) % 1009;
}

static void cycle(int grid) {
  int n = size(grid);
  smooth(n, u[grid], f[grid], other[grid]);
  smooth(n, other[grid], f[grid], u[grid]);
  if (grid == GRIDS - 1) return;
  restrict_to(n / 2, u[grid], f[grid + 1], u[grid + 1]);
  cycle(grid + 1);
  correct(n, u[grid + 1], u[grid]);
  smooth(n, u[grid], f[grid], other[grid]);
  smooth(n, other[grid], f[grid], u[grid]);
}

static long sum(int cycles) {
  for (int grid = 0; grid < GRIDS; grid++)
    for (int i = 0; i < size(grid); i++) u[grid][i] = other[grid][i] = 0, f[grid][i] = i % 13;
  for (int i = 0; i < cycles; i++) cycle(0);
  long sum = 0;
  for (int i = 0; i < size(0); i++) sum += u[0][i] * (i % 7 + 1);
  return sum;
}

int main(int argc, char **argv) {
  int cycles = argc > 1 ? atoi(argv[1]) : 10;
  for (int grid = 0; grid < GRIDS; grid++) {
    u[grid] = malloc(size(grid) * sizeof(long));
    f[grid] = malloc(size(grid) * sizeof(long));
    other[grid] = malloc(size(grid) * sizeof(long));
  }
  long on_ranks = sum(cycles);
  is_serial = 1;
  printf("%d wrong\n", sum(cycles) != on_ranks);
  return 0;
}
