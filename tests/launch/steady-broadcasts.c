// What many ranks on other nodes read goes from one to the other, in as many messages of any rank as the logarithm
// of their number: what serial code or a single construct wrote in a binomial tree, along with the fork or the
// barrier where it is small; small blocks that each rank wrote as in Bruck's all-gather. Large blocks go from each
// rank to each other node, once. What ten steps cost is the difference between runs of 30 and of 20.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 8 %t serial 512 20 > %t.20 2>&1
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 8 %t serial 512 30 > %t.30 2>&1
// RUN: cat %t.20 %t.30 | FileCheck --check-prefix=SERIAL %s
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 8 %t single 512 20 > %t.20 2>&1
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 8 %t single 512 30 > %t.30 2>&1
// RUN: cat %t.20 %t.30 | FileCheck --check-prefix=SINGLE %s
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 8 %t single 50000 20 > %t.20 2>&1
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 8 %t single 50000 30 > %t.30 2>&1
// RUN: cat %t.20 %t.30 | FileCheck --check-prefix=LARGE %s
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 8 %t blocks 512 20 > %t.20 2>&1
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 8 %t blocks 512 30 > %t.30 2>&1
// RUN: cat %t.20 %t.30 | FileCheck --check-prefix=BLOCKS %s
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=2 mpirun --allow-run-as-root --oversubscribe -n 8 %t blocks 50000 20 > %t.20 2>&1
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=2 mpirun --allow-run-as-root --oversubscribe -n 8 %t blocks 50000 30 > %t.30 2>&1
// RUN: cat %t.20 %t.30 | FileCheck --check-prefix=NODES %s
//
// All that moves goes along with the fork, three messages of rank 0 in a step.
// SERIAL-NOT:  wrong
// SERIAL:      messages [[#M0:]] [[#M1:]] [[#M2:]] [[#M3:]] [[#M4:]] [[#M5:]] [[#M6:]] [[#M7:]]
// SERIAL:      data messages [[#D0:]] [[#D1:]] [[#D2:]] [[#D3:]] [[#D4:]] [[#D5:]] [[#D6:]] [[#D7:]]
// SERIAL-NOT:  wrong
// SERIAL:      messages [[#M0+30]] [[#M1+10]] [[#M2+20]] [[#M3+10]] [[#M4+30]] [[#M5+10]] [[#M6+20]] [[#M7+10]]
// SERIAL:      data messages [[#D0+30]] [[#D1+0]] [[#D2+10]] [[#D3+0]] [[#D4+20]] [[#D5+0]] [[#D6+10]] [[#D7+0]]
// And with the barrier.
// SINGLE-NOT:  wrong
// SINGLE:      messages [[#M0:]] [[#M1:]] [[#M2:]] [[#M3:]] [[#M4:]] [[#M5:]] [[#M6:]] [[#M7:]]
// SINGLE:      data messages [[#D0:]] [[#D1:]] [[#D2:]] [[#D3:]] [[#D4:]] [[#D5:]] [[#D6:]] [[#D7:]]
// SINGLE-NOT:  wrong
// SINGLE:      messages [[#M0+60]] [[#M1+20]] [[#M2+40]] [[#M3+20]] [[#M4+60]] [[#M5+20]] [[#M6+40]] [[#M7+20]]
// SINGLE:      data messages [[#D0+30]] [[#D1+0]] [[#D2+10]] [[#D3+0]] [[#D4+20]] [[#D5+0]] [[#D6+10]] [[#D7+0]]
// LARGE-NOT:   wrong
// LARGE:       data messages [[#D0:]] [[#D1:]] [[#D2:]] [[#D3:]] [[#D4:]] [[#D5:]] [[#D6:]] [[#D7:]]
// LARGE-NEXT:  data bytes [[#B0:]] [[#B1:]] [[#B2:]] [[#B3:]] [[#B4:]] [[#B5:]] [[#B6:]] [[#B7:]]
// LARGE-NOT:   wrong
// LARGE:       data messages [[#D0+30]] [[#D1+0]] [[#D2+10]] [[#D3+0]] [[#D4+20]] [[#D5+0]] [[#D6+10]] [[#D7+0]]
// LARGE-NEXT:  data bytes [[#B0+12000000]] [[#B1+0]] [[#B2+4000000]] [[#B3+0]] [[#B4+8000000]] [[#B5+0]] [[#B6+4000000]] [[#B7+0]]
// BLOCKS-NOT:  wrong
// BLOCKS:      data messages [[#D0:]] [[#D1:]] [[#D2:]] [[#D3:]] [[#D4:]] [[#D5:]] [[#D6:]] [[#D7:]]
// BLOCKS-NOT:  wrong
// BLOCKS:      data messages [[#D0+30]] [[#D1+30]] [[#D2+30]] [[#D3+30]] [[#D4+30]] [[#D5+30]] [[#D6+30]] [[#D7+30]]
// Two messages of each rank to other nodes, and one within its own with what the other rank there did not get.
// NODES-NOT:   wrong
// NODES:       data messages [[#D0:]] [[#D1:]] [[#D2:]] [[#D3:]] [[#D4:]] [[#D5:]] [[#D6:]] [[#D7:]]
// NODES-NOT:   wrong
// NODES:       data messages [[#D0+30]] [[#D1+30]] [[#D2+30]] [[#D3+30]] [[#D4+30]] [[#D5+30]] [[#D6+30]] [[#D7+30]]
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESULTS = 64 };

static double read_by_all(const double *x, int n, int r) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * (r + i % 5);
  return sum;
}

static void by_serial_code(double *x, double *y, int n, int steps) {
  for (int step = 0; step < steps; step++) {
    for (int i = 0; i < n; i++) x[i] = i + step;
#pragma omp parallel for
    for (int r = 0; r < RESULTS; r++) y[r] += read_by_all(x, n, r);
  }
}

static void by_single(double *x, double *y, int n, int steps) {
#pragma omp parallel
  for (int step = 0; step < steps; step++) {
#pragma omp single
    for (int i = 0; i < n; i++) x[i] = i + step;
#pragma omp for
    for (int r = 0; r < RESULTS; r++) y[r] += read_by_all(x, n, r);
  }
}

static void by_all(double *x, double *y, int n, int steps) {
#pragma omp parallel
  for (int step = 0; step < steps; step++) {
#pragma omp for
    for (int i = 0; i < n; i++) x[i] = i + step;
#pragma omp for
    for (int r = 0; r < RESULTS; r++) y[r] += read_by_all(x, n, r);
  }
}

int main(int argc, char **argv) {
  const char *who = argc > 1 ? argv[1] : "serial";
  int n = argc > 2 ? atoi(argv[2]) : 512, steps = argc > 3 ? atoi(argv[3]) : 8;
  // Nothing else is near the results.
  double *x = malloc(n * sizeof *x), *results = malloc(2064 * sizeof *results), *y = results + 1000;
#pragma omp parallel for
  for (int i = 0; i < n; i++) x[i] = 0;
#pragma omp parallel for
  for (int r = 0; r < RESULTS; r++) y[r] = 0;
  if (strcmp(who, "serial") == 0) by_serial_code(x, y, n, steps);
  if (strcmp(who, "single") == 0) by_single(x, y, n, steps);
  if (strcmp(who, "blocks") == 0) by_all(x, y, n, steps);
  double *written = malloc(n * sizeof *written);
  for (int r = 0; r < RESULTS; r++) {
    double expected = 0;
    for (int step = 0; step < steps; step++) {
      for (int i = 0; i < n; i++) written[i] = i + step;
      expected += read_by_all(written, n, r);
    }
    if (y[r] != expected) printf("wrong: %d\n", r);
  }
  return 0;
}
