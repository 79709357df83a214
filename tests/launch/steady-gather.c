// Forces of cells at their corners, added up at the nodes between them: where a node's corners are stands in a table, of which
// another one says the node's part. What moves are the forces that cells of other ranks have at this rank's nodes. The forces
// lie in memory that each step allocates and frees; the machine is not asked for it each time.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 20 > %t.text 2>&1
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 40 >> %t.text 2>&1
// RUN: FileCheck %s < %t.text
//
// All forces are 9.6 MB.
//
// CHECK: 20 steps, sum 68399943, few page faults
// CHECK: data bytes {{[0-9][0-9][0-9][0-9][0-9][0-9]?}} [[TABLES:[0-9]+]]{{$}}
// CHECK: 40 steps, sum 137999885, few page faults
// CHECK: data bytes {{[0-9][0-9][0-9][0-9][0-9][0-9]?}} [[TABLES]]{{$}}
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { CELLS = 300000, CORNERS = 4 };

static long faults(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

int main(int argc, char **argv) {
  int steps = argc > 1 ? atoi(argv[1]) : 1;
  int *start = malloc((CELLS + 1) * sizeof *start), *corner = malloc(CELLS * CORNERS * sizeof *corner);
  double *sum = malloc(CELLS * sizeof *sum), all = 0;
  // A node is a corner of the cells around it.
  for (int i = 0, k = 0; i < CELLS; i++) {
    start[i] = k;
    for (int c = 0; c < CORNERS; c++)
      if (i - c >= 0) corner[k++] = (i - c) * CORNERS + c;
    start[i + 1] = k;
  }
  long before = 0;
  for (int step = 0; step < steps; step++) {
    if (step == steps / 2) before = faults();
    double *force = malloc(CELLS * CORNERS * sizeof *force), *more = malloc(4 * CELLS * CORNERS * sizeof *more);
#pragma omp parallel for
    for (int i = 0; i < CELLS * CORNERS; i++) force[i] = step % 7;
#pragma omp parallel for
    for (int i = 0; i < 4 * CELLS * CORNERS; i++) more[i] = i;
#pragma omp parallel for
    for (int i = 0; i < CELLS; i++) {
      double here = 0;
      for (int k = start[i]; k < start[i + 1]; k++) here += force[corner[k]];
      sum[i] = here;
    }
    all += sum[CELLS - 1] * CELLS - sum[0];
    free(force);
    free(more);
    for (int round = 0; round < 4; round++) {
#pragma omp parallel for
      for (int i = 0; i < CELLS; i++) sum[i] *= 0.5;
    }
  }
  long pages = (faults() - before) / (steps - steps / 2);
  printf("%d steps, sum %.0f, %s page faults\n", steps, all, pages < 1000 ? "few" : "many");
  return 0;
}
