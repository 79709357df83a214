// The ranks of a machine wait while rank 0 runs a region by itself: it has threads on their processors meanwhile, as many as
// a team has elsewhere if there are enough. Not so on several machines, where threads are verified, and where there are
// threadprivate variables, which the threads of other ranks keep from one region to the next.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: clang-22 -O2 -DKEEPS -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t.keeps
// RUN: mpirun --allow-run-as-root --oversubscribe -n 2 %t | FileCheck %s --check-prefix=TWO
// RUN: mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 %t | FileCheck %s --check-prefix=TWO
// RUN: env OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t | FileCheck %s --check-prefix=ONE
// RUN: env OKL_VERIFY=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t | FileCheck %s --check-prefix=ONE
// RUN: taskset -c 0 mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 %t | FileCheck %s --check-prefix=ONE
// RUN: mpirun --allow-run-as-root --oversubscribe -n 2 %t.keeps | FileCheck %s --check-prefix=ONE
// RUN: not mpirun --allow-run-as-root --oversubscribe -n 2 %t deep 2>&1 | FileCheck %s --check-prefix=DEEP
//
// TWO: 2 threads: 3 3, then 2
// ONE: 1 threads: 3 0, then 2
// DEEP: stack overflow in function deep{{.*}}: the stack of a region is exhausted; raise OMP_STACKSIZE
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef KEEPS
static int kept;
#pragma omp threadprivate(kept)
#endif

__attribute__((noinline)) static int deep(int n) {
  volatile char frame[4096];
  frame[n % 4096] = 1;
  return n == 0 ? frame[0] : deep(n - 1) + frame[n % 4096];
}

int main(int argc, char **argv) {
  int threads = 0, together = 0, ran[2] = {0};
  for (int round = 0; round < 3; round++) {
#pragma omp parallel
    {
      int me = omp_get_thread_num();
      ran[me] += rand() >= 0;
      if (me == 0) threads = omp_get_num_threads();
      if (argc > 1 && me == 1) ran[me] += deep(1 << 30);
#ifdef KEEPS
      kept++;
#endif
    }
#pragma omp parallel reduction(+ : together)
    if (round == 2) together++;
  }
  printf("%d threads: %d %d, then %d\n", threads, ran[0], ran[1], together);
  return 0;
}
