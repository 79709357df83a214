// A plug-in's target: what threads would share it runs, in parts and in an order of its own; what it cannot run as it is, or does
// not want, threads run, with a remark; and what is wrong with a plug-in is an error.
//
// RUN: %okl-c++ -shared -fPIC -DPLUGIN -I$(llvm-config-22 --includedir) %s -o %t.so
// RUN: %okl-c++ -O1 -g -fopenmp --okl-target=pool,cpu --okl-plugin=%t.so -Rpass=okl -Rpass-missed=okl %s -o %t 2>&1 | FileCheck --implicit-check-not="keeps its threads" %s
// RUN: OMP_NUM_THREADS=3 %t 100 | FileCheck --check-prefix=RUNS %s
// RUN: OMP_NUM_THREADS=3 %t 0 | FileCheck --check-prefix=EMPTY %s
// RUN: %okl-c++ -O0 -fopenmp --okl-plugin=%t.so --okl-target=pool %s -o %t && %t 100 | FileCheck --check-prefix=RUNS %s
// RUN: (not %okl-c++ --okl-target=pol --okl-plugin=%t.so -c %s -o %t.o; not %okl-c++ --okl-target=pool,cuda --okl-plugin=%t.so -c %s -o %t.o; not %okl-c++ -O1 -g -fopenmp --okl-strict --okl-target=pool --okl-plugin=%t.so -c %s -o %t.o) 2>&1 | FileCheck --check-prefix=NAMES %s
// RUN: for wrong in 1 2 3 4 5 6 7 8 9 10; do %okl-c++ -shared -fPIC -DPLUGIN -DWRONG=$wrong -I$(llvm-config-22 --includedir) %s -o %t.$wrong.so && not %okl-c++ -O$((wrong % 2)) -g -fopenmp --okl-target=pool --okl-plugin=%t.$wrong.so -c %s -o %t.o || exit 1; done > %t.told 2>&1; FileCheck --check-prefix=WRONG --implicit-check-not='internal error' %s < %t.told
//
// With -flto, and with code that is compiled once more: what the pool runs has no versions, what threads run has.
// RUN: %okl-c++ -O1 -flto -fopenmp --okl-jit --okl-plugin=%t.so --okl-target=pool -Rpass=okl -Rpass-missed=okl %s -o %t 2>&1 | FileCheck --check-prefix=LTO %s && OKL_JIT=sync OMP_NUM_THREADS=3 %t 100 | FileCheck --check-prefix=RUNS %s
// An OP2 program's loops over sets are threads', and its other loops the pool's.
// RUN: %okl-c++ -O1 -g -fopenmp -DSETS -I%op2-include --okl-plugin=%t.so --okl-target=pool -Rpass=okl -Rpass-missed=okl %s -o %t 2>&1 | FileCheck --check-prefix=SETS %s && OMP_NUM_THREADS=2 %t 100 | FileCheck --check-prefix=RUNS-SETS %s
// RUN: (echo '#include <setjmp.h>'; echo 'void jumps(int *x) {'; echo '#pragma omp parallel for'; echo 'for (int i = 0; i < 8; i++) { jmp_buf here; x[i] = setjmp(here); } }') | %okl-c++ -x c++ - -c -g -fopenmp --okl-plugin=%t.so --okl-target=pool -Rpass-missed=okl -o %t.o 2>&1 | FileCheck --check-prefix=JUMPS %s
// JUMPS: <stdin>:3:1: remark: parallel region does not go to target pool: with debug information (-g) its code is a function apart, and LLVM does not inline that, as it calls setjmp or the like
// Where regions go.
// RUN: clang++-22 -fopenmp -gline-tables-only -S -emit-llvm -I$(dirname %op2-include)/../okl/include %s -o %t.ll && opt-22 -load-pass-plugin=%plugin -okl-target=pool -passes='okl-plugins<%t.so>,print<okl-plan>' -disable-output %t.ll 2>&1 | FileCheck --check-prefix=PLAN %s
// Two of one name.
// RUN: %okl-c++ -shared -fPIC -DPLUGIN -DWRONG=2 -I$(llvm-config-22 --includedir) %s -o %t.other.so && not %okl-c++ -fopenmp --okl-target=pool --okl-plugin=%t.so --okl-plugin=%t.other.so -c %s -o %t.o 2>&1 | FileCheck --check-prefix=TWICE %s
//
// LTO-DAG:   remark: parallel region goes to target pool
// LTO-DAG:   remark: region may be compiled once more at run time
// SETS-DAG:  remark: op_par_loop does not go to target pool: it is a loop over a set
// SETS-DAG:  remark: parallel region goes to target pool
// RUNS-SETS: 1 loops in 7 parts: 9900
// PLAN:      {{^}}@outer loop at {{.*}}: by target pool where that takes it, or else on the processor{{$}}
// TWICE:     error: plug-in {{.*}}.other.so: its target is called 'pool', as that of another plug-in
//
// CHECK-DAG: target.cpp:[[#LOOP:]]:{{[0-9]+}}: remark: parallel region does not go to target pool: its threads combine values
// CHECK-DAG: target.cpp:[[#LOOP - 11]]:{{[0-9]+}}: remark: parallel region goes to target pool
// CHECK-DAG: target.cpp:[[#LOOP - 9]]:{{[0-9]+}}: remark: parallel region goes to target pool
// CHECK-DAG: target.cpp:[[#LOOP - 7]]:{{[0-9]+}}: remark: parallel region goes to target pool
// CHECK-DAG: target.cpp:[[#LOOP - 31]]:{{[0-9]+}}: remark: @outer loop goes to target pool
// CHECK-DAG: target.cpp:[[#LOOP + 4]]:{{[0-9]+}}: remark: parallel region does not go to target pool: its schedule is not a static one without chunks
// CHECK-DAG: target.cpp:[[#LOOP + 5]]:{{[0-9]+}}: remark: parallel region does not go to target pool: how many threads it has, or where, is said in the program
// CHECK-DAG: target.cpp:[[#LOOP + 8]]:{{[0-9]+}}: remark: parallel region does not go to target pool: it calls omp_get_thread_num, which is for OpenMP's threads
// CHECK-DAG: target.cpp:[[#LOOP + 10]]:{{[0-9]+}}: remark: parallel region does not go to target pool: it calls elsewhere(long), which is not known here and may ask for its thread's number
// CHECK-DAG: target.cpp:[[#LOOP + 13]]:{{[0-9]+}}: remark: parallel region does not go to target pool: it uses a variable of which each thread has its own
// CHECK-DAG: target.cpp:[[#LOOP + 17]]:{{[0-9]+}}: remark: parallel region does not go to target pool: its threads come to the loop several times
// CHECK-DAG: target.cpp:[[#LOOP - 26]]:{{[0-9]+}}: remark: parallel region does not go to target pool: few iterations are for threads
// CHECK-DAG: target.cpp:[[#LOOP - 19]]:{{[0-9]+}}: remark: parallel region does not go to target pool: it calls __kmpc_fork_call, which is for OpenMP's threads
// CHECK-DAG: target.cpp:[[#LOOP - 19]]:{{[0-9]+}}: remark: parallel region goes to target pool
// CHECK-DAG: target.cpp:[[#LOOP + 22]]:{{[0-9]+}}: remark: parallel region does not go to target pool: it may wait for other iterations
// CHECK-DAG: target.cpp:[[#LOOP + 24]]:{{[0-9]+}}: remark: parallel region does not go to target pool: it calls sem_post, which may wait, or asks for what is its thread's or its process's
// CHECK-DAG: target.cpp:[[#LOOP + 25]]:{{[0-9]+}}: remark: parallel region does not go to target pool: how many threads it has, or where, is said in the program
// CHECK-DAG: target.cpp:[[#LOOP + 27]]:{{[0-9]+}}: remark: parallel region goes to target pool
// CHECK-DAG: target.cpp:[[#LOOP + 30]]:{{[0-9]+}}: remark: parallel region does not go to target pool: it calls gettid, which may wait, or asks for what is its thread's or its process's
// CHECK-DAG: target.cpp:[[#LOOP + 33]]:{{[0-9]+}}: remark: parallel region does not go to target pool: it calls clock_gettime, which may wait, or asks for what is its thread's or its process's
// CHECK-DAG: target.cpp:[[#LOOP + 34]]:{{[0-9]+}}: remark: parallel region goes to target pool
// CHECK-DAG: target.cpp:[[#LOOP - 36]]:{{[0-9]+}}: remark: parallel region does not go to target pool: it does not say why
// RUNS:      7 loops in 36 parts: 5150 0 30 15450
// RUNS-NEXT: 328350 108 36 6 28 8 28 23 53
// EMPTY:     6 loops in 15 parts: 0 -1 30 0
// NAMES:     error: okl: unknown target 'pol' of -okl-target; valid are: mpi, cpu, cuda, hip, spirv, mpi+cuda, mpi+hip, mpi+spirv, pool
// NAMES:     error: okl: target 'pool' of a plug-in goes with 'cpu' behind it, and with no other of -okl-target; valid are:
// NAMES:     target.cpp:{{[0-9]+}}:{{[0-9]+}}: error: parallel region does not go to target pool: its threads combine values
// WRONG:     error: target pool: it has erased the instruction in front of which it builds
// WRONG:     error: target pool: it takes a loop, and does not use its body
// WRONG:     error: target pool: it has built something for a loop that it does not take
// WRONG:     error: target pool: what it has left is no valid module: {{.*}}
// WRONG:     error: plug-in {{.*}}.5.so: a target cannot be called 'cpu', which is okl's own
// WRONG:     error: target pool: it has erased the instruction in front of which it builds
// WRONG:     error: target pool: it has erased what it was handed of a loop
// WRONG:     error: target pool: it has erased what it was handed of a loop
// WRONG:     error: target pool: it has erased a part of a loop that it was not asked about
// WRONG:     error: target pool: it has erased what it was handed of a loop
#ifdef PLUGIN
#ifndef WRONG
#define WRONG 0
#endif
#include <okl_plugin.h>

#include <cstring>
#include <llvm-c/Core.h>

static const char *parallel_for(const okl_target_loop_v1 *loop) {
  LLVMModuleRef module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(loop->before)));
  LLVMValueRef run = LLVMGetNamedFunction(module, "pool_run");
  LLVMValueRef passed[] = {loop->count, loop->body, loop->data};
  size_t length;
  const char *caller = LLVMGetValueName2(LLVMGetBasicBlockParent(LLVMGetInstructionParent(loop->before)), &length);
  if (!strcmp(caller, "few"))
    return "few iterations are for threads";
  if (!strcmp(caller, "silent"))
    return "";
#if WRONG == 1
  LLVMInstructionEraseFromParent(loop->before);
#elif WRONG == 6
  LLVMInstructionRemoveFromParent(loop->before);
#elif WRONG == 7
  LLVMDeleteFunction(loop->body);
  return "I do not want it";
#elif WRONG == 8
  LLVMReplaceAllUsesWith(loop->count, LLVMConstInt(LLVMInt64TypeInContext(LLVMGetModuleContext(module)), 3, 0));
  LLVMInstructionEraseFromParent(loop->count);
  return "I do not want it";
#elif WRONG == 9
  // All other regions.
  LLVMValueRef fork = LLVMGetNamedFunction(module, "__kmpc_fork_call"), calls[64];
  size_t count = 0;
  for (LLVMUseRef use = LLVMGetFirstUse(fork); use; use = LLVMGetNextUse(use))
    if (LLVMGetUser(use) != loop->before)
      calls[count++] = LLVMGetUser(use);
  while (count)
    LLVMInstructionEraseFromParent(calls[--count]);
  return "I do not want it";
#elif WRONG == 10
  // It may be at the same address.
  LLVMDeleteFunction(loop->body);
  LLVMAddFunction(module, "another", LLVMGlobalGetValueType(run));
#elif WRONG != 2
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
  LLVMPositionBuilderBefore(builder, loop->before);
  LLVMBuildCall2(builder, LLVMGlobalGetValueType(run), run, passed, 3, "");
#if WRONG == 4
  LLVMBuildRetVoid(builder);
#endif
  LLVMDisposeBuilder(builder);
#endif
  return WRONG == 3 ? "I do not want it" : 0;
}

extern "C" {
OKL_PLUGIN_TARGET(WRONG == 5 ? "cpu" : "pool", parallel_for)
}
#else
#include <cstdio>
#include <cstdlib>

static int loops, parts;

extern "C" void pool_run(long count, void (*body)(long, long, void *), void *data) {
  long most = (count + 6) / 7;
  loops++;
  for (long to = count; to > 0; to -= most, parts++)
    body(to > most ? to - most : 0, to, data);
}

#ifdef SETS
#include "op_seq.h"

void twice(const double *x, double *y) { y[0] = 2 * x[0]; }

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  static double values[100], sum;
#pragma omp parallel for
  for (int i = 0; i < 100; i++) values[i] = i;
  op_set cells = op_decl_set(100, "cells");
  op_dat x = op_decl_dat(cells, 1, "double", values, "x");
  op_par_loop(twice, "twice", cells, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ), op_arg_dat(x, -1, OP_ID, 1, "double", OP_WRITE));
  op_fetch_data(x, values);
  for (double one : values) sum += one;
  printf("%d loops in %d parts: %g\n", loops, parts, sum);
  op_exit();
}
#else
#include <ctime>
#include <okl.hpp>
#include <omp.h>
#include <semaphore.h>
#include <unistd.h>

long elsewhere(long i) __attribute__((weak));
static thread_local long own;
static int turn;
static sem_t meets;

extern "C" void silent(double *x) {
#pragma omp parallel for
  for (int i = 0; i < 7; i++) x[i] += i;
}

OKL_KERNEL void scale(const int n, double *x) {
  for (OKL_OUTER() int i = 0; i < n; ++i)
    for (OKL_INNER() int j = 0; j < 1; ++j) x[i] *= 3;
}

extern "C" void few(double *x) {
#pragma omp parallel for
  for (int i = 0; i < 7; i++) x[i] = i;
}

void nested(double *x) {
#pragma omp parallel for
  for (int i = 0; i < 1; i++) {
#pragma omp parallel for
    for (int j = 0; j < 2; j++) x[j]++;
  }
}

int main(int, char **arguments) {
  int n = atoi(arguments[1]), last = -1, start = 2;
  double x[101] = {}, y[10] = {}, sum = 0, b[8] = {}, c[8] = {}, d[8] = {}, e[8] = {}, f[8] = {}, g[8] = {}, h[8] = {}, k[8] = {};
#pragma omp parallel for
  for (int i = 0; i < n; i++) x[i] = i;
#pragma omp parallel for lastprivate(last) firstprivate(start)
  for (int i = n - 1; i >= 0; i--) x[i] += start, last = i;
#pragma omp parallel
  {
    double unit = 1;
#pragma omp for collapse(2)
    for (unsigned i = 0; i < 5; i++) for (unsigned j = 0; j < 2; j++) y[2 * i + j] = unit + i;
  }
  double all = 0, plain = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += i * i;
  for (int i = 0; i < n; i++) all += x[i];
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < 8; i++) b[i] += 13.5;
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 8; i++) c[i] += 4.5;
#pragma omp parallel for
  for (int i = 0; i < 8; i++) d[i] = omp_get_thread_num() < 3 ? 0.75 : 0;
#pragma omp parallel for
  for (long i = 0; i < 8; i++) e[i] = i ? i : elsewhere ? elsewhere(i) : 0;
#pragma omp parallel for
  for (long i = 0; i < 8; i++)
    own = 1, f[i] = own;
#pragma omp parallel
  {
    for (int t = 1; t <= 7; t++)
#pragma omp for nowait
      for (int i = 0; i < t; i++)
        g[i]++;
  }
#pragma omp parallel for
  for (int i = 0; i < 3; i++) __atomic_fetch_add(&turn, __atomic_load_n(&turn, __ATOMIC_ACQUIRE) < 3, __ATOMIC_RELAXED);
#pragma omp parallel for
  for (int i = 0; i < 3; i++) sem_post(&meets), sem_wait(&meets);
#pragma omp parallel for num_threads(2) if (loops > 3)
  for (int i = 0; i < 8; i++) k[i] = 1;
#pragma omp parallel for
  for (int i = 0; i < 8; i++) k[i] += 2;
#pragma omp parallel for
  for (int i = 0; i < 8; i++) k[i] += gettid() > 0;
  timespec time;
#pragma omp parallel for private(time)
  for (int i = 0; i < 8; i++) k[i] += clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
#pragma omp parallel for private(time)
  for (int i = 0; i < 8; i++) k[i] += clock_gettime(CLOCK_MONOTONIC, &time);
  silent(k);
  scale(n, x);
  few(h);
  nested(h);
  for (int i = 0; i < n; i++) plain += x[i];
  double ys = 0, bs = 0, cs = 0, ds = 0, es = 0, fs = 0, gs = 0, hs = 0, ks = 0;
  for (double one : y) ys += one;
  for (int i = 0; i < 8; i++) bs += b[i], cs += c[i], ds += d[i], es += e[i], fs += f[i], gs += g[i], hs += h[i], ks += k[i];
  printf("%d loops in %d parts: %g %d %g %g\n", loops, parts, all, last, ys, plain);
  printf("%g %g %g %g %g %g %g %g %g\n", sum, bs, cs, ds, es, fs, gs, hs, ks);
}
// Its constructor has two names: where a plug-in is wrong, both are still there.
struct Named {
  Named();
  int number;
};
Named::Named() : number(3) {}
#endif
#endif
