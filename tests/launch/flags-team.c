// A region deals out rows to its threads, and a later one, whose threads wait for flags, goes through them in that order: it has
// as many threads as it asks for wherever and however often it runs on several nodes.
// RUN: clang-22 -O2 -fopenmp %s -o %t.openmp
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -w -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OMP_NUM_THREADS=2 %t.openmp > %t.expected
// RUN: FileCheck %s < %t.expected
// RUN: env OKL_RANKS_PER_NODE=1 OKL_REGIONS_ALONE=1 mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 %t | diff %t.expected -
// RUN: env OKL_RANKS_PER_NODE=1 OKL_REGIONS_ALONE=alternate mpirun --allow-run-as-root --oversubscribe -n 2 %t | diff %t.expected -
// RUN: env OKL_RANKS_PER_NODE=1 OKL_FLAGS=ranks mpirun --allow-run-as-root --oversubscribe -n 3 %t | diff %t.expected -
// CHECK: 24
#include <omp.h>
#include <stdio.h>

enum { rows = 24, columns = 2048, planes = 5, steps = 12 };

static double grid[planes][rows][columns];
static int ready[rows], first[2], end[2];

// The row before comes first, which another thread may have.
static void sweep(int plane) {
  int t = omp_get_thread_num();
  for (int i = first[t]; i < end[t]; i++) {
    if (i > 1)
      while (ready[i - 1] <= plane) {
#pragma omp flush
      }
    for (int j = 0; j < columns; j++)
      grid[plane][i][j] = 0.6 * grid[plane][i][j] + 0.4 * grid[plane][i - 1][j] + 0.01 * i;
    ready[i] = plane + 1;
  }
}

int main(void) {
  omp_set_dynamic(0);
#pragma omp parallel num_threads(2)
  {
    int t = omp_get_thread_num(), all = omp_get_num_threads();
    first[t] = t * rows / all + (t == 0);
    end[t] = (t + 1) * rows / all;
  }
  for (int k = 0; k < planes; k++)
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < columns; j++) grid[k][i][j] = (k + i * 7 + j * 3) % 19;
  int sizes = 0;
  for (int step = 0; step < steps; step++) {
    for (int i = 0; i < rows; i++) ready[i] = 0;
#pragma omp parallel num_threads(2)
    {
      if (omp_get_thread_num() == 0) sizes += omp_get_num_threads();
      for (int plane = 0; plane < planes; plane++) sweep(plane);
#pragma omp barrier
    }
  }
  double sum = 0;
  for (int k = 0; k < planes; k++)
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < columns; j++) sum += grid[k][i][j];
  printf("%d %.8g\n", sizes, sum);
}
