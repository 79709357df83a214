// Regions of every kind have all threads of all ranks: those that declare what they access, and those whose pages are
// tracked. One that cannot be distributed has rank 0's.
//
// RUN: clang-22 -O2 -gline-tables-only -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t 2>&1 | FileCheck --check-prefix=WARNING %s
// RUN: env OMP_NUM_THREADS=3 mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck --check-prefix=THREE %s
// RUN: mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck --check-prefix=ONE %s
// RUN: env OMP_NUM_THREADS=3 OKL_VERIFY=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck --check-prefix=ONE %s
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 6000 };
int size;
int own;
#pragma omp threadprivate(own)

static void declared(double *a) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < N; i++) a[i] = i;
#pragma omp master
    size = omp_get_num_threads();
  }
  printf("declared %d\n", size);
}

static void counted(double *a) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < N; i++) a[i] = i;
#pragma omp master
    size = omp_get_num_threads();
#pragma omp barrier
#pragma omp atomic
    size += 10;
  }
  printf("counted %d\n", size);
}

static void private_to_threads(double *a) {
#pragma omp parallel
  {
#pragma omp master
    size = omp_get_num_threads();
    own = omp_get_thread_num();
#pragma omp for
    for (int i = 0; i < N; i++) a[i] = own;
  }
  printf("private %d\n", size);
}

static void tracked(void) {
#pragma omp parallel
#pragma omp critical
  size = omp_get_num_threads();
  printf("tracked %d\n", size);
}

// WARNING: threads-of-ranks.c:[[@LINE+2]]:1: warning: {{.*}}rand
static void on_one_rank(void) {
#pragma omp parallel
  {
    int drawn = rand();
#pragma omp atomic
    size += drawn * 0 + 1;
#pragma omp barrier
#pragma omp single
    size = 100 * size + omp_get_num_threads();
  }
  printf("on one rank %d\n", size);
}

int main(void) {
  double *a = malloc(N * sizeof *a);
  printf("at most %d\n", omp_get_max_threads());
  fflush(stdout);
  // THREE: at most 6
  // THREE: declared 6
  // THREE: counted 66
  // THREE: private 6
  // THREE: tracked 6
  // THREE: on one rank 303
  // ONE: at most 2
  // ONE: declared 2
  // ONE: counted 22
  // ONE: private 2
  // ONE: tracked 2
  // ONE: on one rank 101
  for (int round = 0; round < 2; round++) {
    declared(a);
    counted(a);
    private_to_threads(a);
    tracked();
    size = 0;
    on_one_rank();
  }
  return 0;
}
