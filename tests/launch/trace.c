// OKL_TRACE tells on each rank, in order, what is exchanged and why, with lines of the source. What is
// told does not depend on where the ranks are. Words can be chosen, and unknown ones are refused.
//
// RUN: clang-22 -O2 -g -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi %s -L%runtime-dir -lokl_mpi -Wl,-rpath,%runtime-dir -o %t
// RUN: rm -rf %t.d && env OKL_TRACE=comm mpirun --allow-run-as-root --oversubscribe --output-filename %t.d -n 2 %t > %t.log 2>&1
// RUN: (cat %t.d/1/rank.0/stderr; echo end) | FileCheck --check-prefix=FIRST %s
// RUN: (cat %t.d/1/rank.1/stderr; echo end) | FileCheck --check-prefix=SECOND %s
// RUN: rm -rf %t.d && env OKL_RANKS_PER_NODE=1 OKL_TRACE=comm mpirun --allow-run-as-root --oversubscribe --output-filename %t.d -n 2 %t > %t.log 2>&1
// RUN: (cat %t.d/1/rank.1/stderr; echo end) | FileCheck --check-prefix=SECOND %s
// RUN: rm -rf %t.d && env OKL_TRACE=faults mpirun --allow-run-as-root --oversubscribe --output-filename %t.d -n 2 %t > %t.log 2>&1
// RUN: (cat %t.d/1/rank.1/stderr; echo end) | FileCheck --check-prefix=FAULTS %s
// RUN: env OKL_BACKEND=mpi OKL_TRACE=comm %t 2>&1 | FileCheck --check-prefix=ALONE %s
// RUN: not env OKL_TRACE=sync,all %t 2>&1 | FileCheck --check-prefix=WRONG %s
// RUN: %t 2>&1 | count 0
//
// FIRST:       okl: rank 0: fork of the region at {{.*}}trace.c:[[#@LINE+47]] to 2 threads: 344 bytes to each rank
// FIRST-NEXT:  okl: rank 0: end of the region at {{.*}}trace.c:[[#@LINE+46]]
// FIRST-NEXT:  okl: rank 0: fork of the region at {{.*}}trace.c:[[#@LINE+47]] to 2 threads: 328 bytes to each rank
// FIRST-NEXT:  okl: rank 0: copies 8 bytes in 1 piece from rank 1: a + 8192 of {{.*}}trace.c, in {{.*}}trace.c:[[#@LINE+46]]
// FIRST-NEXT:  okl: rank 0: end of the region at {{.*}}trace.c:[[#@LINE+45]]
// FIRST-NEXT:  okl: rank 0: fork of the region at {{.*}}trace.c:[[#@LINE+46]] to 2 threads: {{[0-9]+}} bytes to each rank
// FIRST-NEXT:  okl: rank 0: 8 pages leave section mode, from {{.}} + 0 of {{.*}} on: the region at {{.*}}trace.c:[[#@LINE+45]] does not declare what it accesses
// FIRST-NEXT:  okl: rank 0: reduction at {{.*}}trace.c:[[#@LINE+46]]
// FIRST-NEXT:  okl: rank 0: barrier at {{.*}}trace.c:[[#@LINE+45]]
// FIRST-NEXT:  okl: rank 0: lock 0x{{[0-9a-f]+}} at {{.*}}trace.c:[[#@LINE+49]]
// FIRST-NEXT:  okl: rank 0: barrier at {{.*}}trace.c:[[#@LINE+50]]
// FIRST-NEXT:  okl: rank 0: end of the region at {{.*}}trace.c:[[#@LINE+40]]
// FIRST-NEXT:  end
//
// SECOND:      okl: rank 1: enters the region at {{.*}}trace.c:[[#@LINE+33]] as thread 1 of 2
// SECOND-NEXT: okl: rank 1: end of the region at {{.*}}trace.c:[[#@LINE+32]]
// SECOND-NEXT: okl: rank 1: enters the region at {{.*}}trace.c:[[#@LINE+33]] as thread 1 of 2
// SECOND-NEXT: okl: rank 1: copies 8 bytes in 1 piece from rank 0: a + 8184 of {{.*}}trace.c, in {{.*}}trace.c:[[#@LINE+32]]
// SECOND-NEXT: okl: rank 1: end of the region at {{.*}}trace.c:[[#@LINE+31]]
// SECOND-NEXT: okl: rank 1: enters the region at {{.*}}trace.c:[[#@LINE+32]] as thread 1 of 2
// SECOND-NEXT: okl: rank 1: 8 pages leave section mode, from {{.}} + 0 of {{.*}} on: the region at {{.*}}trace.c:[[#@LINE+31]] does not declare what it accesses
// SECOND-NEXT: okl: rank 1: read fault at {{.*}}trace.c:[[#@LINE+34]]: place + 4096 of {{.*}}trace.c
// SECOND-NEXT: okl: rank 1: fetches 1 page from rank 0: place + 4096 of {{.*}}trace.c, in {{.*}}trace.c:[[#@LINE+29]]
// SECOND-NEXT: okl: rank 1: write fault at {{.*}}trace.c:[[#@LINE+32]]: field + 8192 of {{.*}}trace.c
// SECOND-NEXT: okl: rank 1: fetches 1 page from rank 0: field + 8192 of {{.*}}trace.c, in {{.*}}trace.c:[[#@LINE+27]]
// SECOND:      okl: rank 1: reduction at {{.*}}trace.c:[[#@LINE+28]]
// SECOND-NEXT: okl: rank 1: barrier at {{.*}}trace.c:[[#@LINE+27]]
// SECOND-NEXT: okl: rank 1: sends {{[0-9]+}} changed bytes home to rank 0: page at field + 0 of {{.*}}trace.c, in {{.*}}trace.c:[[#@LINE+24]]
// SECOND:      okl: rank 1: lock 0x{{[0-9a-f]+}} at {{.*}}trace.c:[[#@LINE+30]]
// SECOND-NEXT: okl: rank 1: barrier at {{.*}}trace.c:[[#@LINE+31]]
// SECOND-NEXT: okl: rank 1: end of the region at {{.*}}trace.c:[[#@LINE+21]]
// SECOND-NEXT: end
//
// FAULTS:      okl: rank 1: read fault at {{.*}}trace.c:[[#@LINE+22]]: place + 4096 of {{.*}}trace.c
// FAULTS-NEXT: okl: rank 1: write fault at {{.*}}trace.c:[[#@LINE+21]]: field + 8192 of {{.*}}trace.c
// FAULTS-NOT:  rank 1: {{[^rw]}}
// ALONE: okl: rank 0: the region at {{.*}}trace.c:[[#@LINE+11]] runs as a team of one
// WRONG: okl: rank 0: OKL_TRACE=sync,all: there is no word all; valid words are comm, data, faults and sync
#include <omp.h>
#include <stdio.h>
enum { N = 2048 };
double a[N], b[N], field[N];
int place[N];

int main(void) {
  double sum = 0;
  for (int i = 0; i < N; i++) place[i] = (i * 5) % N;
#pragma omp parallel for
  for (int i = 0; i < N; i++) a[i] = i;
#pragma omp parallel for
  for (int i = 1; i < N - 1; i++) b[i] = a[i - 1] + a[i + 1];
#pragma omp parallel
  {
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < N; i++) {
      field[place[i]] = b[i];
      sum += b[i];
    }
#pragma omp critical
    omp_get_thread_num();
#pragma omp barrier
    // So that its pages are tracked, and have homes.
    static omp_lock_t lock;
    if (omp_get_num_threads() > 99) {
      omp_set_lock(&lock);
#pragma omp atomic
      sum += 1;
    }
  }
  return sum < 0;
}
