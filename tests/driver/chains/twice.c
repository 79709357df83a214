// A chain that does not run as scheduled runs as the program has it, with the threads and the clauses of its loops' own
// directives: where the compiler makes nothing of it, where its schedule is empty, and where what its order relies on does not
// hold when the program runs. Of what is not run nothing is left.
//
// RUN: split-file %s %t.d && cd %t.d && bash -eu run %okl-cc %okl-c++
// RUN: cd %t.d && bash -eu once %okl-cc
// RUN: cd %t.d && clang-22 -E -dD -fopenmp once.c | %okl-cc --okl-normalize - | FileCheck --check-prefix=TEXT %s
// TEXT-NOT: __okl_omplc_scheduled
// TEXT:     __okl_omplc_chain({{.*}} @3:9
// TEXT-NOT: __okl_omplc_scheduled
// TEXT:     __okl_omplc_chain({{.*}} @12:9
// TEXT:     if (__okl_omplc_scheduled())
// TEXT:     __okl_omplc_chain({{.*}} @22:9
// TEXT-NOT: __okl_omplc_scheduled()
// TEXT:     __okl_omplc_chain({{.*}} @29:9

//--- run
export OMP_NUM_THREADS=3
clang-22 -fopenmp -c threads.c
for source in chains.c chains.cpp; do
  case $source in
  *.cpp) driver=$2 ;;
  *) driver=$1 ;;
  esac
  for words in '-O0 -g' -O2; do
    $driver --okl-target=cpu -fopenmp -Wno-backend-plugin $words $source threads.o -o okl.out
    ./okl.out >said.txt
    diff -B wanted.txt said.txt
  done
done

//--- once
# Where it runs as scheduled, and where it does not, nothing is left of the other.
"$1" --okl-target=cpu -fopenmp -w -O0 -S -emit-llvm left.c -o left.ll
! grep '__okl_omplc\|okl.hidden' left.ll
[ $(grep -c '^define .*omp_outlined' left.ll) = 1 ]
grep '^define .*@stays.omp_outlined' left.ll
[ $(grep -c 'fadd' left.ll) = 2 ]

//--- left.c
void runs(double *restrict a) {
#pragma omplc loopchain schedule(fuse)
  {
#pragma omp parallel for
#pragma omplc for domain(0 : 9)
    for (int i = 0; i < 10; i++)
      a[i] += 1;
  }
}
void stays(double *restrict a) {
#pragma omplc loopchain schedule(fuse)
  {
#pragma omp parallel for
#pragma omplc for domain(0 : 9)
    for (int i = 0; i < 10; i++)
      a[i] += 2;
    a[0] = 4;
  }
}

//--- once.c
void f(double *a, int n) {
  int i, k = 0;
#pragma omplc loopchain schedule(fuse)
  {
#pragma omp parallel for
#pragma omplc for domain(0 : 9)
    for (i = 0; i < 10; i++) {
      static int once;
      a[i] += once++;
    }
  }
#pragma omplc loopchain schedule(fuse)
  {
#pragma omp parallel for
#pragma omplc for domain(0 : 9)
    for (i = 0; i < 10; i++) {
      if (a[i] > n) goto end;
      a[i] += 1;
    end: k++;
    }
  }
#pragma omplc loopchain schedule(fuse)
  {
#pragma omp simd
#pragma omplc for domain(0 : 9)
    for (i = 0; i < 10; i++) a[i] += 1;
  }
  (void)k;
#pragma omplc loopchain schedule(fuse)
  {
#pragma omplc for domain(0 : 9)
    for (i = 0; i < 10; i++) a[i] += 1;
  }
}

//--- wanted.txt
declined: 367 20, threads 3
empty: 210, threads 3
at run time: 238, threads 3
as scheduled: 238, threads 1

//--- threads.c
#include <omp.h>
// It is said that it only computes.
int thread_of(long i) { return i < 0 ? 0 : omp_get_thread_num(); }

//--- chains.cpp
#include "chains.c"

//--- chains.c
#include <stdio.h>
#ifdef __cplusplus
extern "C"
#endif
__attribute__((const, nothrow)) int thread_of(long i);
enum { N = 20 };
static int who[N + 2];
static long a[N + 2], b[N + 2];

static int threads(void) {
  int most = 0;
  for (int i = 0; i < N + 2; i++) {
    most = who[i] > most ? who[i] : most;
    who[i] = 0;
  }
  return most + 1;
}

// A statement stands between the loops. Each thread begins with its own 7.
static void declined(void) {
  long sum = 0, last = 0;
  int k = 7;
#pragma omplc loopchain schedule(fuse())
  {
#pragma omp parallel for private(k)
#pragma omplc for domain(1 : N) with(i) write a{(i)}
    for (int i = 1; i <= N; i++) {
      k = i;
      a[i] = k;
    }
    b[0] = 3;
#pragma omplc for domain(1 : N) with(i) read a{(i)}
#pragma omp parallel for reduction(+ : sum) lastprivate(last) firstprivate(k)
    for (int i = 1; i <= N; i++) {
      sum += a[i] + k;
      last = i;
      k = 8;
      who[i] = thread_of(i);
    }
  }
  printf("declined: %ld %ld, threads %d\n", sum, last, threads());
}

static void empty(void) {
  long sum = 0;
#pragma omplc loopchain schedule()
  {
#pragma omp parallel for
#pragma omplc for domain(1 : N) with(i) write a{(i)}, write who{(i)}
    for (int i = 1; i <= N; i++)
      a[i] = i, who[i] = thread_of(i);
#pragma omplc for domain(1 : N) with(i) read a{(i)}
#pragma omp parallel for reduction(+ : sum)
    for (int i = 1; i <= N; i++)
      sum += a[i];
  }
  printf("empty: %ld, threads %d\n", sum, threads());
}

// Tiles have to be larger than what loops reach. What nothing but an iteration uses is declared far from it.
static void at_run_time(const char *name, int rows) {
  long sum = 0, part;
#pragma omplc loopchain schedule(tile((rows), serial, serial), fuse())
  {
#pragma omp parallel for private(part)
#pragma omplc for domain(1 : N) with(i) write a{(i)}, write who{(i)}
    for (int i = 1; i <= N; i++) {
      part = i;
      a[i] = part + 2;
      who[i] = thread_of(i);
    }
#pragma omplc for domain(1 : N - 3) with(i) read a{(i + 3)} write b{(i)}
    for (int i = 1; i <= N - 3; i++) {
      part = a[i + 3];
      b[i] = part;
    }
  }
  for (int i = 1; i <= N - 3; i++)
    sum += b[i] * (b[i] == a[i + 3]);
  printf("%s: %ld, threads %d\n", name, sum, threads());
}

int main(void) {
  declined();
  empty();
  at_run_time("at run time", 2);
  at_run_time("as scheduled", 8);
}
