// Rank 0 runs regions of a few microseconds by itself, and long ones not. Rank 0's statistics say how many: the others have
// no part in them. How many of the short ones goes by times, and is the unit tests' of alone/history.rs: here, that trials
// come where the machine is not too busy. Where threads meet in a region even that goes by times. Sums are the same to the last bit
// wherever regions run.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_REGIONS_ALONE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 3000 30 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: env OKL_REGIONS_ALONE=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 3000 30 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN-ONCE-IN-5: env OKL_STATS=1 OKL_REGIONS_ALONE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 3000 30 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN-ONCE-IN-5: env OKL_STATS=1 OKL_REGIONS_ALONE=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 3000 30 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: env OKL_STATS=1 OKL_REGIONS_ALONE=0 mpirun --allow-run-as-root --oversubscribe -n 2 %t 300 30 2>&1 | FileCheck %s --check-prefix=NEVER
// RUN: env OKL_STATS=1 OKL_REGIONS_ALONE=always mpirun --allow-run-as-root --oversubscribe -n 2 %t 300 30 2>&1 | FileCheck %s --check-prefix=ALWAYS
// RUN-ONCE-IN-5: env OKL_STATS=1 OKL_REGIONS_ALONE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 20 60000000 2>&1 | FileCheck %s --check-prefix=LONG
// RUN: env OKL_STATS=1 OKL_REGIONS_ALONE=1 OMP_NUM_THREADS=2 mpirun --allow-run-as-root --oversubscribe -n 2 %t 300 30 2>&1 | FileCheck %s --check-prefix=NEVER
//
// RUN: env OKL_STATS=1 OKL_REGIONS_ALONE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 1500 30 meetings 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: env OKL_STATS=1 OKL_REGIONS_ALONE=always mpirun --allow-run-as-root --oversubscribe -n 2 %t 300 30 meetings 2>&1 | FileCheck %s --check-prefix=ALWAYS
// RUN: env OKL_STATS=1 OKL_REGIONS_ALONE=1 OMP_NUM_THREADS=2 mpirun --allow-run-as-root --oversubscribe -n 2 %t 300 30 meetings 2>&1 | FileCheck %s --check-prefix=NEVER
//
// RUN: env OKL_REGIONS_ALONE=0 mpirun --allow-run-as-root --oversubscribe -n 5 %t 40 30 sums > %t.never
// RUN: env OKL_REGIONS_ALONE=always mpirun --allow-run-as-root --oversubscribe -n 5 %t 40 30 sums > %t.always
// RUN: env OKL_REGIONS_ALONE=alternate mpirun --allow-run-as-root --oversubscribe -n 5 %t 40 30 sums > %t.alternate
// RUN: cmp %t.never %t.always
// RUN: cmp %t.never %t.alternate
//
// RIGHT: 0 wrong
// SHORT: regions alone {{ *[1-9][0-9]+}} {{ *}}0
// NEVER-DAG: 0 wrong
// NEVER-DAG: regions alone {{ *}}0 {{ *}}0
// ALWAYS-DAG: 0 wrong
// ALWAYS-DAG: forks {{ *}}0 {{ *}}0
// ALWAYS-DAG: regions alone {{ *}}300 {{ *}}0
// LONG-DAG: 0 wrong
// LONG-DAG: regions alone {{ *}}0 {{ *}}0
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned a[64];

typedef struct {
  double small, large[900];
} Sums;

static void add(Sums *to, const Sums *from) {
  to->small += from->small;
  for (int i = 0; i < 900; i++) to->large[i] += from->large[i];
}

#pragma omp declare reduction(sums : Sums : add(&omp_out, &omp_in)) initializer(omp_priv = (Sums){0})

// Small items go up a tree of ranks, large ones are read by rank 0. In some regions threads meet.
static void sums(int regions) {
  static double terms[1000];
  for (int i = 0; i < 1000; i++) terms[i] = 1.0 / (i + 1);
  for (int region = 0; region < regions; region++) {
    double small = 0.1;
    Sums large = {0.1};
#pragma omp parallel for reduction(+ : small)
    for (int i = 0; i < 1000; i++) small += terms[i] / 3;
#pragma omp parallel for reduction(sums : large)
    for (int i = 0; i < 1000; i++) {
      large.small += terms[i] / 7;
      large.large[i % 900] += terms[i] / 11;
    }
    double met = 0.1;
#pragma omp parallel reduction(+ : met)
    {
#pragma omp for
      for (int i = 0; i < 1000; i++) terms[i] += 1e-3 / (i + 3);
#pragma omp for
      for (int i = 0; i < 1000; i++) met += terms[i] * (i % 7 + 0.1) / (i + 13);
    }
    large.small += met;
    for (int i = 0; i < 900; i++) large.small = large.small * 0.99 + large.large[i];
    printf("%a %a %a\n", small, large.small, met);
    terms[region] += small / 1000;
  }
}

static void meetings(int regions) {
  int together = 0, parts[8] = {0}, sum = 0;
  for (int region = 0; region < regions; region++) {
#pragma omp parallel
    {
#pragma omp single
      together++;
      parts[omp_get_thread_num()] += together;
#pragma omp barrier
#pragma omp critical
      sum += parts[(omp_get_thread_num() + 1) % omp_get_num_threads()];
    }
  }
  int expected = 0, part = 0, threads = omp_get_max_threads();
  for (int region = 1; region <= regions; region++) expected += threads * (part += region);
  printf("%d wrong\n", (together != regions) + (sum != expected));
}

int main(int argc, char **argv) {
  int regions = atoi(argv[1]), work = atoi(argv[2]), wrong = 0;
  if (argc > 3) {
    if (strcmp(argv[3], "sums") == 0) sums(regions);
    else meetings(regions);
    return 0;
  }
  for (int region = 0; region < regions; region++) {
#pragma omp parallel for
    for (int i = 0; i < 64; i++) {
      unsigned x = a[i];
      for (int j = 0; j < work / 64; j++) x = x * 1664525u + 1013904223u;
      a[i] = x;
    }
  }
  unsigned x = 0;
  for (int region = 0; region < regions; region++)
    for (int j = 0; j < work / 64; j++) x = x * 1664525u + 1013904223u;
  for (int i = 0; i < 64; i++) wrong += a[i] != x;
  printf("%d wrong\n", wrong);
  return 0;
}
