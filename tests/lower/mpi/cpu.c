// The target cpu leaves the module alone, whichever way it is asked for; a pass parameter beats the
// compiler flag, which beats the environment.
// RUN: clang-22 -O0 -fopenmp -S -emit-llvm %s -o %t.ll
// RUN: clang-22 -O0 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=cpu -S -emit-llvm %s -o %t.flag.ll
// RUN: diff %t.ll %t.flag.ll
// RUN: OKL_TARGET=cpu clang-22 -O0 -fopenmp -fpass-plugin=%plugin -S -emit-llvm %s -o %t.env.ll
// RUN: diff %t.ll %t.env.ll
// RUN: OKL_TARGET=cpu clang-22 -O0 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=mpi -S -emit-llvm %s -o - | FileCheck %s
// RUN: opt-22 -load-pass-plugin=%plugin -okl-target=cpu -passes='okl-lower<mpi>' -S %t.ll | FileCheck %s
// RUN: opt-22 -load-pass-plugin=%plugin -okl-target=mpi -passes='okl-lower<cpu>' -S %t.ll | FileCheck --check-prefix=CPU %s
// CHECK:     okl_mpi_fork
// CPU-NOT:   okl_mpi
int main(void) {
  int sum = 0;
#pragma omp parallel reduction(+ : sum)
  sum++;
  return sum;
}
