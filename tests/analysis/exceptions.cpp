// Exceptions that can only end the program are no exits of loops, of regions or of functions between them: what a loop
// accesses is known as if nothing were thrown.
// RUN: clang++-22 -O2 -g -fopenmp -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='print<okl-accesses>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: clang++-22 -O2 -g -fopenmp -fpass-plugin=%plugin -Rpass=okl -Rpass-missed=okl -c %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
#include <cstdio>
#include <cstdlib>

enum { N = 100000 };
static double x[N], y[N];

__attribute__((noinline)) static double checked(double value) {
  if (value > 1e30)
    throw value;
  return value + 1;
}

// What throws is called in a loop, which writes all it is to write, or the program ends.
// CHECK: region at {{.*}}exceptions.cpp:[[@LINE+5]]: complete
// CHECK: nest {{.*}}exceptions.cpp:[[@LINE+6]]
// CHECK-DAG: read y [
// CHECK-DAG: write x [
void in_loop() {
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    x[i] = checked(y[i]);
}

struct Solver {
  double *a, *b;
  int n;
  __attribute__((noinline)) void half(int turn);
  __attribute__((noinline)) void step(int turn);
};

// Each may leave the function by an exception, which ends in the region.
void Solver::half(int turn) {
  double *from = a, *to = b;
#pragma omp for
  for (int i = 1; i < n - 1; i++)
    to[i] = (from[i - 1] + from[i + 1]) * 0.5 + turn;
  if (turn < 0)
    throw turn;
}

void Solver::step(int turn) {
  half(turn);
  double *from = b, *to = a;
#pragma omp for
  for (int i = 1; i < n - 1; i++)
    to[i] = from[i];
}

// CHECK: region at {{.*}}exceptions.cpp:[[@LINE+4]]: complete{{$}}
// REMARK-NOT: by an exception
// REMARK: exceptions.cpp:[[@LINE+2]]:1: remark: region declares all its accesses
void steps(Solver &solver, int turns) {
#pragma omp parallel
  for (int turn = 0; turn < turns; turn++)
    solver.step(turn);
}

// Where it is handled in the region, between loops, all that was declared has been accessed.
// CHECK: region at {{.*}}exceptions.cpp:[[@LINE+6]]: complete but for
// CHECK-NEXT: tracked, it calls __cxa_begin_catch ({{.*}}exceptions.cpp:[[@LINE+9]])
// CHECK: nest
// REMARK: exceptions.cpp:[[@LINE+3]]:1: remark: region declares its accesses ({{.*}}), but for those of code that cannot be described
// REMARK: exceptions.cpp:[[@LINE+6]]:{{.*}} remark: pages are tracked while this runs, and the region's other accesses are declared: it calls __cxa_begin_catch
void handled(Solver &solver, int turns) {
#pragma omp parallel
  for (int turn = 0; turn < turns; turn++) {
    try {
      solver.step(turn);
    } catch (int) {
    }
#pragma omp barrier
  }
}

// In the middle of a loop nothing is known of how much of it was accessed.
// CHECK: region at {{.*}}exceptions.cpp:[[@LINE+3]]: tracked, it
void in_iteration() {
  static double z[N];
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    try {
      z[i] = checked(y[i]);
    } catch (double value) {
      z[i] = -value;
    }
  }
}
