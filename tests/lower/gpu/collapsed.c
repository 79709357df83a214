// Work items of collapsed loops multiply instead of dividing, each has one iteration, and asks nothing but whether it has it:
// the host has asked all else. What they combine they exchange where the device has that, in one order everywhere.
//
// REQUIRES: spirv-dis
// RUN: clang-22 -O2 -fopenmp -emit-llvm -c -Xclang -disable-llvm-passes %s -o %t.bc
// RUN: opt-22 -load-pass-plugin=%plugin -okl-target=cuda,cpu -passes='print<okl-device>' -disable-output %t.bc >%t.ptx 2>&1; FileCheck --implicit-check-not=div. --implicit-check-not=rem. --implicit-check-not=warning: %s <%t.ptx
// RUN: clang-22 -O2 -fopenmp -fpass-plugin=%plugin -mllvm -okl-target=cuda,cpu -S -emit-llvm %s -o - | FileCheck --check-prefix=HOST %s
// RUN: opt-22 -load-pass-plugin=%plugin -okl-target=hip:gfx90a,cpu -passes='print<okl-device>' -disable-output %t.bc >%t.amd 2>&1 && llvm-objdump-22 -d --mcpu=gfx90a %t.amd | FileCheck --check-prefix=AMD %s
// RUN: opt-22 -load-pass-plugin=%plugin -okl-target=spirv,cpu -passes='print<okl-device>' -disable-output %t.bc >%t.spv 2>&1 && spirv-dis %t.spv | FileCheck --check-prefix=SPIRV --implicit-check-not=Div --implicit-check-not=Rem --implicit-check-not=SMod --implicit-check-not=UMod %s

// CHECK-LABEL: .entry okl_sweep_omp_outlined_0_region(
// CHECK-COUNT-1: setp.
// CHECK-NOT:   setp.
// CHECK:       mul.hi.u32
// CHECK-NOT:   mul.hi.u32
// CHECK-NOT:   setp.
// CHECK:       st.global.b64
// CHECK-NOT:   bra.uni
// CHECK:       ret;
// AMD-LABEL:   <okl_sweep_omp_outlined_0_region>:
// AMD:         v_mul_hi_u32
// AMD-NOT:     v_rcp
// HOST-LABEL: @sweep(
// HOST:       udiv i64
// HOST:       call i32 @okl_gpu_launch_v6(
void sweep(int n, int m, double *now, double *next) {
#pragma omp parallel for collapse(2)
  for (int y = 1; y <= n; y++)
    for (int x = 1; x <= m; x++)
      next[y * (m + 2) + x] = now[y * (m + 2) + x - 1] + now[y * (m + 2) + x + 1];
}

// Of three loops two numbers are divided by.
// CHECK-LABEL: .entry okl_cube_omp_outlined_1_region(
// CHECK-COUNT-1: setp.
// CHECK-NOT:   setp.
// CHECK-COUNT-2: mul.hi.u32
// CHECK-NOT:   mul.hi.u32
// CHECK:       st.global.b32
// CHECK:       ret;
void cube(int n, float *a) {
#pragma omp parallel for collapse(3)
  for (int z = 0; z < n; z++)
    for (int y = 0; y < n; y++)
      for (int x = 0; x < n; x++)
        a[(z * n + y) * n + x] = z + 2 * y + 3 * x;
}

// A number of 64 bits is two of those that are exchanged: five times by all, and then three times by the first row.
// CHECK-LABEL: .entry okl_add_omp_outlined_2_region(
// CHECK-COUNT-10: shfl.sync.bfly.b32
// CHECK:       st.shared.b64
// CHECK:       bar.sync
// CHECK-NOT:   bar.sync
// CHECK:       ld.shared.b64
// CHECK-COUNT-6: shfl.sync.bfly.b32
// CHECK-NOT:   shfl.
// CHECK:       ret;
// AMD-LABEL:   <okl_add_omp_outlined_2_region>:
// AMD:         ds_swizzle_b32 {{.*}}swizzle(SWAP,16)
// AMD:         ds_swizzle_b32 {{.*}}swizzle(SWAP,8)
// AMD:         ds_swizzle_b32 {{.*}}swizzle(SWAP,1)
// AMD:         s_barrier
// AMD:         ds_swizzle_b32 {{.*}}swizzle(SWAP,4)
// SPIRV:       OpFunctionEnd
// SPIRV-COUNT-9: OpControlBarrier
// SPIRV-NOT:   OpControlBarrier
double add(int n, const double *x) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++)
    sum += x[i];
  return sum;
}
