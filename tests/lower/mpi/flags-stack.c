// Arrays on the stack that regions share have pages to themselves where threads wait for flags; elsewhere they stay as they are.
// RUN: clang-22 -O1 -Xclang -disable-llvm-passes -fopenmp -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='okl-lower<mpi>,verify' -S %t.ll | FileCheck %s
// RUN: clang-22 -O1 -Xclang -disable-llvm-passes -DNO_FLAGS -fopenmp -S -emit-llvm %s -o %t.ll
// RUN: opt-22 -load-pass-plugin=%plugin -passes='okl-lower<mpi>,verify' -S %t.ll | FileCheck --check-prefix=PLAIN %s
static int ready;

// CHECK-LABEL: define dso_local double @pass_on(
// CHECK-DAG:     alloca [8192 x i8], align 4096
// CHECK-DAG:     alloca [8 x double], align 16
// PLAIN-LABEL: define dso_local double @pass_on(
// PLAIN-DAG:     alloca [600 x double], align 16
// PLAIN-DAG:     alloca [8 x double], align 16
double pass_on(int i) {
  double large[600], small[8];
  large[i] = small[i & 7] = i;
#pragma omp parallel
  {
#ifndef NO_FLAGS
    while (ready == 0) {
#pragma omp flush
    }
    ready = 1;
#endif
    large[i] += small[i & 7];
  }
  return large[i];
}
