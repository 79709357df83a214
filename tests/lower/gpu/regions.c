// Regions whose threads share a loop on a device: a work item runs an iteration, with no loop around it but that over the
// grid, and in front of the fork stands the launch. Threads meet behind the loop, as they do where it is one of a region's own.
//
// REQUIRES: spirv-val spirv-dis
// RUN: clang-22 -O2 -g -fopenmp -emit-llvm -c -Xclang -disable-llvm-passes %s -o %t.bc
// RUN: opt-22 -load-pass-plugin=%plugin -okl-target=cuda,cpu -passes='print<okl-device>' -disable-output %t.bc >%t.ptx 2>&1; FileCheck --implicit-check-not=.extern --implicit-check-not=warning: %s <%t.ptx
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=cuda,cpu -S -emit-llvm %s -o - | FileCheck --check-prefix=HOST %s
// RUN: opt-22 -load-pass-plugin=%plugin -okl-target=hip:gfx90a,cpu -passes='print<okl-device>' -disable-output %t.bc >%t.amd 2>&1 && llvm-readelf-22 -h --notes %t.amd | FileCheck --check-prefix=NOTES %s
// RUN: opt-22 -load-pass-plugin=%plugin -okl-target=spirv,cpu -passes='print<okl-device>' -disable-output %t.bc >%t.spv 2>&1 && spirv-val %t.spv && spirv-dis %t.spv | FileCheck --check-prefix=SPIRV --implicit-check-not=Generic %s

// CHECK-LABEL: .entry okl_scale_omp_outlined_0_region(
// CHECK:       .maxntid 256, 1, 1
// CHECK-COUNT-1: ld.global.b64
// CHECK-NOT:   ld.global
// CHECK-COUNT-1: st.global.b64
// CHECK-NOT:   st.global
// NOTES:       .max_flat_workgroup_size: 256
// NOTES-NEXT:  .name: okl_scale_omp_outlined_0_region
// SPIRV:       OpEntryPoint Kernel %{{.*}} "okl_scale_omp_outlined_0_region"
// HOST-LABEL: @scale(
// HOST:       call i32 @okl_gpu_launch_v6(
void scale(int n, double *y, const double *x, double a) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    y[i] = a * x[i];
}

// CHECK-LABEL: .entry okl_multiply_omp_outlined_1_region(
// NOTES:       .name: okl_multiply_omp_outlined_1_region
// SPIRV:       OpEntryPoint Kernel %{{.*}} "okl_multiply_omp_outlined_1_region"
// HOST-LABEL: @multiply(
// HOST:       call i32 @okl_gpu_launch_v6(
void multiply(int n, double *c, const double *a, const double *b) {
  int i, j, k;
#pragma omp parallel
  {
#pragma omp for private(j, k)
    for (i = 0; i < n; i++)
      for (j = 0; j < n; j++) {
        c[i * n + j] = 0;
        for (k = 0; k < n; k++)
          c[i * n + j] += a[i * n + k] * b[k * n + j];
      }
  }
}

// What the rows of work items have combined lies in memory of their block's; sums of the file's go there at once.
// CHECK-LABEL: .entry okl_add_omp_outlined_2_region(
// CHECK-DAG:   atom.global.add.f64
// CHECK-DAG:   st.shared.b64
// CHECK-DAG:   bar.sync
// NOTES:       .group_segment_fixed_size: 64
// NOTES:       .name: okl_add_omp_outlined_2_region
// SPIRV:       OpEntryPoint Kernel %{{.*}} "okl_add_omp_outlined_2_region"
// SPIRV:       OpTypePointer Workgroup
// SPIRV:       OpAtomicCompareExchange
// SPIRV:       OpControlBarrier
// HOST-LABEL: @add(
double total;
double add(int n, const double *x) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++) {
    sum += x[i];
#pragma omp atomic
    total += x[i];
  }
  return sum;
}

// What a function of C's mathematics writes is no variable of the program's, whatever LLVM has made of it: pointers stay.
// CHECK-LABEL: .entry okl_lengths_omp_outlined_3_region(
// CHECK:       sqrt.rn.f32
// HOST-LABEL: @lengths(
// HOST:       call i32 @okl_gpu_launch_v6(
double sqrt(double);
void lengths(int n, float *to, const float *x) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; i++) {
      to[i] = 0;
      for (int j = 0; j < n; j++)
        to[i] += x[j] * x[i];
      to[i] = sqrt(to[i]);
      to[i] = to[i] <= 1 ? 1 : to[i];
    }
  }
}
