// A team of one in which a thread waits for another ends the job with a message at the line of the wait,
// whatever the loop waits with. Loops that something else ends go on.
//
// RUN: for level in 0 2; do clang-22 -O$level -gline-tables-only -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t.$level || exit 1; done > %t.log 2>&1
// RUN: for way in 1 2 3 4 5 6 7; do if OKL_BACKEND=mpi %t.$(((way + 1) % 2 * 2)) $way; then exit 1; fi; done 2>&1 | FileCheck %s
// RUN: for way in 11 12 13 14 15 16; do OKL_BACKEND=mpi %t.$((way % 2 * 2)) $way || exit 1; done 2>&1 | FileCheck --check-prefix=ENDS %s
// RUN: not env OKL_RANKS_PER_NODE=1 mpirun --allow-run-as-root --oversubscribe -n 2 %t.2 1 2>&1 | FileCheck --check-prefix=RANKS %s
//
// CHECK: way 1
// CHECK: the parallel region at {{.*}}waits-alone.c:42 waits for another thread to change a variable ({{.*}}waits-alone.c:48), but its team has one thread: nobody can end the wait
// CHECK: way 2
// CHECK: ({{.*}}waits-alone.c:52), but its team has one thread
// CHECK: way 3
// CHECK: but its team has one thread
// CHECK: way 4
// CHECK: but its team has one thread
// CHECK: way 5
// CHECK: but its team has one thread
// CHECK: way 6
// CHECK: but its team has one thread
// CHECK: way 7
// CHECK: but its team has one thread
//
// RANKS: the parallel region at {{.*}} waits for another thread to change a variable ({{.*}}), but its team has one thread
//
// ENDS-COUNT-6: ended
#include <omp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int plain;
static volatile int seen;
static atomic_int flag, lock;
static int order[4] = {1, 2, 3, 0};

static void on_alarm(int number) { seen = number; }

static void wait_in(int way) {
#pragma omp parallel
#pragma omp single
  {
    int value = 0;
    double start = omp_get_wtime();
    if (way == 1)
      while (!seen) usleep(1);
    if (way == 2)
      do {
#pragma omp atomic read
        value = plain;
      } while (!value);
    if (way == 3) {
      lock = 1;
      while (atomic_exchange(&lock, 1)) {
      }
    }
    if (way == 4)
      while (atomic_load_explicit(&flag, memory_order_acquire) == 0) {
#pragma omp taskyield
      }
    if (way == 5)
      while (plain == 0 && seen == 0) {
        for (volatile int pause = 0; pause < 10; pause++) {
        }
#pragma omp flush
      }
    if (way == 6)
      while (!value) {
#pragma omp critical
        value = plain;
      }
    if (way == 7) {
      int expected = 0;
      flag = 1;
      while (!atomic_compare_exchange_weak(&flag, &expected, 1)) expected = 0;
    }
    if (way == 11) {
      signal(SIGALRM, on_alarm);
      alarm(1);
      while (!seen) {
      }
    }
    if (way == 12)
      while (!seen && omp_get_wtime() < start + 0.1) {
      }
    if (way == 13)
      for (int tries = 0; tries < 1000000 && !atomic_load(&flag); tries++) {
      }
    if (way == 14)
      while (!seen) {
#pragma omp flush
        if (++plain == 100000) seen = 1;
      }
    if (way == 15)
      for (int round = 0; round < 1000000; round++) {
        atomic_store(&flag, 1);
        while (!atomic_load(&flag)) {
        }
      }
    if (way == 16)
      for (int i = 0, rounds = 0; rounds < 100000; i = order[i], rounds++)
        while (atomic_fetch_or(&flag, 1) == 0) {
        }
  }
}

int main(int argc, char **argv) {
  int way = argc > 1 ? atoi(argv[1]) : 0;
  fprintf(stderr, "way %d\n", way);
  wait_in(way);
  fprintf(stderr, "ended\n");
  return 0;
}
