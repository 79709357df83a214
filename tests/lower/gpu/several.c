// A region of several loops runs on a device where that has kernels of all of them: each is asked for in front of it. What one
// kind of device cannot run another one may, whichever stands first in the list.
//
// RUN: for target in cuda,spirv,cpu spirv,cuda,cpu; do clang-22 -O2 -g -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=$target -S -emit-llvm %s -o %t.ll 2>%t.told && FileCheck --check-prefix=TOLD %s < %t.told && FileCheck %s < %t.ll || exit 1; done
// RUN: %okl-cc -O2 -g -fopenmp --okl-target=spirv,cuda,cpu -w %s -o %t && (OKL_STATS=1 OKL_BACKEND=cuda-emulated %t 2>&1; OKL_BACKEND=cpu %t) | FileCheck --check-prefix=RUNS %s
//
// TOLD: several.c:[[# @LINE + 19]]:{{.*}}: warning: this cannot run on an OpenCL device, so threads run it there: it computes with integers of 128 bits, which an OpenCL device cannot do
//
// CHECK-LABEL: @both(
// CHECK:       %[[A:.*]] = {{.*}}call i32 @okl_gpu_runs_v5(ptr nonnull @okl.device.kernel{{[.0-9]*}}, i32 1)
// CHECK:       call i32 @okl_gpu_runs_v5(ptr nonnull @okl.device.kernel{{[.0-9]*}}, i32 1)
// CHECK-NOT:   @okl_gpu_runs_v5
// CHECK:       call i32 @okl_gpu_launch_v6(
//
// RUNS-DAG:   both 1 {{.*}}several.c:[[# @LINE + 11]]
// RUNS-DAG:   both 1 {{.*}}several.c:[[# @LINE + 8]]
// RUNS-COUNT-2: 3899742713805.0
#include <stdio.h>
enum { N = 1000 };
static double a[N], b[N];
__attribute__((noinline)) void both(void) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < N; i++) a[i] += i;
#pragma omp for
    for (int i = 0; i < N; i++) b[i] = (long)((__int128)(long)a[i] * 1000000007 >> 7);
  }
}
int main(void) {
  both();
  double sum = 0;
  for (int i = 0; i < N; i++) sum += a[i] + b[i] * (i % 3);
  printf("%.1f\n", sum);
}
