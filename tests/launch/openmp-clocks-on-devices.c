// A launch returns at once, but who reads a clock means what has been done: in front of that the program waits.
//
// RUN: %okl-cc -O2 -fopenmp --okl-target=cuda,cpu -S -emit-llvm -o - %s | FileCheck %s
// RUN: %okl-cc -O0 -fopenmp --okl-target=cuda,cpu -S -emit-llvm -o - %s | FileCheck %s
// RUN: %okl-cc -O2 -fopenmp -S -emit-llvm -o - %s | FileCheck --check-prefix=WITHOUT %s
// RUN: %okl-cc -O2 -fopenmp --okl-target=cuda,cpu %s -o %t
// RUN: OKL_BACKEND=cuda-emulated OMP_NUM_THREADS=2 %t | FileCheck --check-prefix=RAN %s
// RUN: OKL_BACKEND=cpu OMP_NUM_THREADS=2 %t
// RUN: %okl-c++ -DCHRONO -x c++ -O2 -fopenmp --okl-target=cuda,cpu -S -emit-llvm -o - %s | FileCheck --check-prefix=CHRONO %s

// WITHOUT-NOT: okl_gpu_finish
// RAN: the kernel was measured

#ifndef CHRONO
#include <omp.h>
#include <stdio.h>

static double a[1000];

// CHECK-LABEL: @measured(
// CHECK:       call void @okl_gpu_finish_v1()
// CHECK-NEXT:  call double @omp_get_wtime()
// CHECK:       call void @okl_gpu_finish_v1()
// CHECK-NEXT:  call double @omp_get_wtime()
double measured(int turns) {
  double start = omp_get_wtime();
#pragma omp parallel for
  for (int i = 0; i < 1000; i++)
    for (int turn = 0; turn < turns; turn++) a[i] = a[i] * 0.5 + turn;
  return omp_get_wtime() - start;
}

int main(void) {
  measured(1); // the device is found
  double few = measured(1), many = measured(2000);
  printf("the kernel was %s\n", many > 5 * few ? "measured" : "not measured");
  return 0;
}
#else
#include <chrono>

// CHRONO:      call void @okl_gpu_finish_v1()
// CHRONO-NEXT: call i64 @_ZNSt6chrono3_V212steady_clock3nowEv()
long now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
#endif
