// A program of several files. One without OP2 and OpenMP stays as it is: its variables, what it does before main, and
// variables of threads, also where it stands in for the OpenMP run time. One that only looks at data is part of the program. The OpenMP regions of one that does not
// use OP2 stay threads only if the compiler is told.
//
// RUN: clang++-22 -O2 -I%op2-include -fpass-plugin=%plugin -DMAIN -c %s -o %t.main.o
// RUN: clang++-22 -O2 -I%op2-include -fpass-plugin=%plugin -DREADER -c %s -o %t.reader.o
// RUN: clang++-22 -O2 -fpass-plugin=%plugin -DOTHER -c %s -o %t.other.o
// RUN: clang++-22 -O2 -fopenmp -fpass-plugin=%plugin -DTHREADS -c %s -o %t.threads.o
// RUN: clang++-22 %t.main.o %t.reader.o %t.other.o %t.threads.o -L%runtime-dir -lokl_op2 -fopenmp -Wl,-rpath,%runtime-dir -o %t
// RUN: (not %t 2>&1) | FileCheck --check-prefix=REFUSED %s
// RUN: clang++-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=cpu -DTHREADS -c %s -o %t.threads.o
// RUN: clang++-22 %t.main.o %t.reader.o %t.other.o %t.threads.o -L%runtime-dir -lokl_op2 -fopenmp -Wl,-rpath,%runtime-dir -o %t
// RUN: OP_AUTO_SOA=1 %t | FileCheck %s
// RUN: mpirun --allow-run-as-root --oversubscribe -n 2 %t | FileCheck %s
//
// REFUSED: okl: {{.*}}several-files.cpp was compiled with OpenMP, for the ranks of an MPI job, and this is an OP2 program: compile the file with -mllvm -okl-target=cpu, so that its regions run on threads
// CHECK: before main 3, calls 5 of 1 thread; data 1.5 2.5; 4950 by 3 threads
#ifdef MAIN
#include "op_seq.h"

extern int before_main;
int calls();
double value(op_dat dat, int at);
int sum(int *threads);

static void add(double *x) {
  x[0] += 1;
  x[1] += 2;
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  op_set set = op_decl_set(10, "set");
  double start[20];
  for (int k = 0; k < 20; k++)
    start[k] = 0.5;
  op_dat dat = op_decl_dat(set, 2, "double", start, "dat");
  op_par_loop(add, "add", set, op_arg_dat(dat, -1, OP_ID, 2, "double", OP_RW));
  for (int k = 0; k < 4; k++)
    calls();
  int threads, total = sum(&threads);
  op_printf("before main %d, calls %d of 1 thread; data %g %g; %d by %d threads\n", before_main, calls(), value(dat, 0),
            value(dat, 1), total, threads);
  op_exit();
}
#elif defined READER
#include "op_seq.h"

double value(op_dat dat, int at) { return ((double *)dat->data)[at]; }
#elif defined OTHER
#include <cstdio>
#include <vector>

static std::vector<int> three(3);
int before_main = three.size();
static thread_local int count;
extern "C" int omp_get_ancestor_thread_num(int) { return 0; }
int calls() {
  static int *const place = new int(0);
  if (FILE *file = fopen("/dev/null", "w"))
    fclose(file);
  *place = ++count;
  return *place;
}
#else
int sum(int *threads) {
  int total = 0, started = 0;
#pragma omp parallel num_threads(3) reduction(+ : total, started)
  {
    started++;
#pragma omp for
    for (int k = 0; k < 100; k++)
      total += k;
  }
  *threads = started;
  return total;
}
#endif
