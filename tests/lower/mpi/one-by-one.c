// Which regions say that their threads may run one after the other (512).
// RUN: clang-22 -O1 -Xclang -disable-llvm-passes -fopenmp -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='okl-lower<mpi>,verify' -S %t.ll | FileCheck %s

#include <math.h>
#include <omp.h>

extern double a[100], b[100];
extern volatile int ready;
static _Thread_local int own;
static int counter;
void unknown(void);
static double known(double x) { return sqrt(x) + omp_get_thread_num(); }
static int own_in_function(void) { return own; }
double (*pointer)(double);

// CHECK-DAG: { ptr @okl.invoke.loop.omp_outlined, {{.*}}, i64 512, i64 0, ptr null
void loop(void) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) a[i] = known(b[i]);
}

// One reduction is where they meet. What clang has threads do where they combine atomically, they do not.
// CHECK-DAG: { ptr @okl.invoke.reduction.omp_outlined, {{.*}}, i64 512, i64 0, ptr null
double reduction(void) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += a[i];
  return sum;
}

// CHECK-DAG: { ptr @okl.invoke.last_barrier.omp_outlined, {{.*}}, i64 512, i64 0, ptr null
void last_barrier(void) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < 100; i++) a[i] = b[i];
  }
}

// CHECK-DAG: { ptr @okl.invoke.inner_barrier.omp_outlined, {{.*}}, i64 0, i64 0, ptr null
void inner_barrier(void) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < 100; i++) a[i] = b[i];
    b[omp_get_thread_num()] = a[0];
  }
}

// CHECK-DAG: { ptr @okl.invoke.two_reductions.omp_outlined, {{.*}}, i64 0, i64 0, ptr null
double two_reductions(void) {
  double sum = 0, product = 1;
#pragma omp parallel
  {
#pragma omp for reduction(+ : sum) nowait
    for (int i = 0; i < 100; i++) sum += a[i];
#pragma omp for reduction(* : product) nowait
    for (int i = 0; i < 100; i++) product *= a[i];
  }
  return sum + product;
}

// CHECK-DAG: { ptr @okl.invoke.repeated.omp_outlined, {{.*}}, i64 0, i64 0, ptr null
double repeated(int times) {
  double sum = 0;
#pragma omp parallel
  for (int t = 0; t < times; t++) {
#pragma omp for reduction(+ : sum) nowait
    for (int i = 0; i < 100; i++) sum += a[i];
  }
  return sum;
}

// CHECK-DAG: { ptr @okl.invoke.updates.omp_outlined, {{.*}}, i64 0, i64 0, ptr null
void updates(void) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {
#pragma omp atomic
    counter++;
  }
}

// CHECK-DAG: { ptr @okl.invoke.waits.omp_outlined, {{.*}}, i64 {{0|1|256}}, i64 0, ptr null
void waits(void) {
#pragma omp parallel
  {
    if (omp_get_thread_num() == 0)
      while (!ready) {
      }
    else
      ready = 1;
  }
}

// CHECK-DAG: { ptr @okl.invoke.threads_own.omp_outlined, {{.*}}, i64 0, i64 0, ptr null
void threads_own(void) {
#pragma omp parallel
  a[omp_get_thread_num()] = own_in_function();
}

// CHECK-DAG: { ptr @okl.invoke.calls.omp_outlined, {{.*}}, i64 0, i64 0, ptr null
void calls(void) {
#pragma omp parallel
  unknown();
}

// CHECK-DAG: { ptr @okl.invoke.calls_pointer.omp_outlined, {{.*}}, i64 0, i64 0, ptr null
void calls_pointer(void) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) a[i] = pointer(b[i]);
}

// CHECK-DAG: { ptr @okl.invoke.dynamic.omp_outlined, {{.*}}, i64 0, i64 0, ptr null
void dynamic(void) {
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < 100; i++) a[i] = b[i];
}
