// Tasks that one thread creates run on all ranks, of a machine and of several; with OKL_MOVE_CHUNKS=0 where they were created.
// The statistics say how many moved.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 3 %t 2>&1 | FileCheck %s --check-prefixes=RIGHT,NEAR
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 3 %t 2>&1 | FileCheck %s --check-prefixes=RIGHT,FAR
// RUN: env OKL_STATS=1 OKL_MOVE_CHUNKS=0 mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck %s --check-prefixes=RIGHT,STAY
//
// RIGHT: 0 wrong
// NEAR: tasks near {{ *}}{{[0-9]+}}{{ +}}{{[1-9][0-9]*}}{{ +}}{{[1-9][0-9]*}}
// NEAR: tasks far {{ *}}0 {{ *}}0 {{ *}}0
// FAR: tasks near {{ *}}0 {{ *}}0 {{ *}}0
// FAR: tasks far {{ *}}{{[0-9]+}}{{ +}}{{[1-9][0-9]*}}{{ +}}{{[1-9][0-9]*}}
// STAY: tasks near {{ *}}0 {{ *}}0
// STAY: tasks far {{ *}}0 {{ *}}0
#include <stdio.h>
#include <unistd.h>

enum { TASKS = 60, ROUNDS = 3 };

static int in_globals[TASKS];

int main(void) {
  int wrong = 0;
  for (int round = 0; round < ROUNDS; round++) {
    int on_stack[TASKS] = {0};
#pragma omp parallel
#pragma omp single
    {
      int in_frame[TASKS];
      for (int i = 0; i < TASKS; i++) {
        in_frame[i] = -1;
#pragma omp task shared(in_frame, on_stack) firstprivate(i)
        {
          usleep(1000);
          in_frame[i] = on_stack[i] = i;
          in_globals[i]++;
        }
      }
#pragma omp taskwait
      for (int i = 0; i < TASKS; i++) wrong += in_frame[i] != i;
    }
    for (int i = 0; i < TASKS; i++) wrong += on_stack[i] != i || in_globals[i] != round + 1;
  }
  printf("%d wrong\n", wrong);
  return 0;
}
