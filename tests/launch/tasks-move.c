// Tasks that one thread creates run on all ranks, of a machine and of several; with OKL_MOVE_CHUNKS=0 where they were created.
// The statistics say how many moved. In one of some executions of a tree of uneven tasks no rank works for much longer than its
// part.
//
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: env OKL_STATS=1 mpirun --allow-run-as-root --oversubscribe -n 3 %t 2>&1 | FileCheck %s --check-prefixes=RIGHT,NEAR
// RUN: env OKL_STATS=1 OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 3 %t 2>&1 | FileCheck %s --check-prefixes=RIGHT,FAR
// RUN: env OKL_STATS=1 OMP_NUM_THREADS=2 mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck %s --check-prefixes=RIGHT,THREADS
// RUN: env OKL_STATS=1 OKL_MOVE_CHUNKS=0 mpirun --allow-run-as-root --oversubscribe -n 2 %t 2>&1 | FileCheck %s --check-prefixes=RIGHT,STAY
//
// RIGHT: 0 wrong
// NEAR-SAME: , balanced
// NEAR: tasks in rank {{ *}}0 {{ *}}0 {{ *}}0
// NEAR: tasks near {{ *}}{{[0-9]+}}{{ +}}{{[1-9][0-9]*}}{{ +}}{{[1-9][0-9]*}}
// NEAR: tasks far {{ *}}0 {{ *}}0 {{ *}}0
// FAR-SAME: , balanced
// FAR: tasks near {{ *}}0 {{ *}}0 {{ *}}0
// FAR: tasks far {{ *}}{{[0-9]+}}{{ +}}{{[1-9][0-9]*}}{{ +}}{{[1-9][0-9]*}}
// THREADS-SAME: , balanced
// THREADS: tasks in rank {{ *}}{{[1-9][0-9]*}}{{ +}}{{[0-9]+}}
// THREADS: tasks near {{ *}}{{[0-9]+}}{{ +}}{{[1-9][0-9]*}}
// STAY-SAME: , not balanced
// STAY: tasks near {{ *}}0 {{ *}}0
// STAY: tasks far {{ *}}0 {{ *}}0
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

enum { TASKS = 40, ROUNDS = 2, MOST_THREADS = 8, DEPTH = 6, TRIES = 12 };

static int in_globals[TASKS], slept[MOST_THREADS];

static unsigned next(unsigned seed) { return (seed * 1103515245u + 12345u) >> 3; }

// How long the tasks of a tree take, in microseconds. Most of them hang below the first child.
static int tree(unsigned seed, int depth) {
  if (depth <= 0) {
    int takes = 500 + seed % 1500;
    usleep(takes);
    slept[omp_get_thread_num()] += takes;
    return takes;
  }
  int children = 1 + depth % 3, takes[3], sum = 0;
  for (int i = 0; i < children; i++) {
#pragma omp task shared(takes) firstprivate(i)
    takes[i] = tree(next(seed + i), depth - 1 - 2 * i);
  }
#pragma omp taskwait
  for (int i = 0; i < children; i++) sum += takes[i];
  return sum;
}

int main(void) {
  int wrong = 0, is_balanced = 0;
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
  for (int try = 0; try < TRIES && !is_balanced; try++) {
    int total = 0, sum = 0, most = 0, threads = 1;
#pragma omp parallel
#pragma omp single
    {
      threads = omp_get_num_threads();
      for (int i = 0; i < 4; i++) {
#pragma omp task shared(total) firstprivate(i)
        {
          int takes = tree(77 + i, i == 0 ? DEPTH + 2 : DEPTH - 2);
#pragma omp atomic
          total += takes;
        }
      }
    }
    for (int t = 0; t < MOST_THREADS; t++) {
      sum += slept[t];
      if (slept[t] > most) most = slept[t];
      slept[t] = 0;
    }
    wrong += sum != total;
    is_balanced = most <= 1.15 * total / threads;
  }
  printf("%d wrong, %s\n", wrong, is_balanced ? "balanced" : "not balanced");
  return 0;
}
