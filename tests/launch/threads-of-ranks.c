// Which regions have one thread on each rank, told when they are compiled and when they run; the size of
// each team.
//
// RUN: clang-22 -O2 -gline-tables-only -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi -Rpass-missed=okl %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t 2>&1 | FileCheck --check-prefix=REMARK %s
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

// REMARK: threads-of-ranks.c:[[@LINE+2]]:1: remark: each rank runs this region with one thread: it has an atomic access ({{.*}}threads-of-ranks.c:[[@LINE+10]])
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

// REMARK: threads-of-ranks.c:[[@LINE+2]]:1: remark: each rank runs this region with one thread: it uses a threadprivate variable ({{.*}}threads-of-ranks.c:[[@LINE+6]])
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

// REMARK: threads-of-ranks.c:[[@LINE+2]]:1: remark: pages of this region are tracked: it has a critical section ({{.*}}threads-of-ranks.c:[[@LINE+3]])
static void tracked(void) {
#pragma omp parallel
#pragma omp critical
  size = omp_get_num_threads();
  printf("tracked %d\n", size);
}

int main(void) {
  double *a = malloc(N * sizeof *a);
  printf("at most %d\n", omp_get_max_threads());
  fflush(stdout);
  // THREE-DAG: at most 6
  // THREE-DAG: declared 6
  // THREE-DAG: counted 22
  // THREE-DAG: private 2
  // THREE-DAG: tracked 2
  // THREE-DAG: okl: rank 0: warning: the parallel region at {{.*}}threads-of-ranks.c:30 has one thread on each rank, 2 threads and not 6; -Rpass-missed=okl tells why when it is compiled
  // THREE-DAG: okl: rank 0: warning: the parallel region at {{.*}}threads-of-ranks.c:45 has one thread on each rank, 2 threads and not 6; -Rpass-missed=okl tells why when it is compiled
  // THREE-DAG: okl: rank 0: warning: the parallel region at {{.*}}threads-of-ranks.c:58 has one thread on each rank, 2 threads and not 6; -Rpass-missed=okl tells why when it is compiled
  // ONE-NOT: warning
  // ONE: at most 2
  // ONE: declared 2
  // ONE: counted 22
  // ONE: private 2
  // ONE: tracked 2
  // ONE-NOT: warning
  for (int round = 0; round < 2; round++) {
    declared(a);
    counted(a);
    private_to_threads(a);
    tracked();
  }
  return 0;
}
