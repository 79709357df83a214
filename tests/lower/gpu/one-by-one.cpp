// Kernels that are compiled for SPIR-V more than once, as one of the file has no code there: each is tried alone, and then the
// others together. What LLVM's back end keeps of a module must not show in the next one, in which two things would have one
// number. That they have is a matter of addresses, hence several times.
//
// RUN: clang++-22 -std=c++17 -O2 -emit-llvm -c -Xclang -disable-llvm-passes %s -o %t.bc
// RUN: for i in 1 2 3 4 5 6 7 8; do opt-22 -load-pass-plugin=%plugin -okl-target=spirv -passes='print<okl-device>' -disable-output %t.bc 2>%t.spv && spirv-val %t.spv || exit 1; done
// RUN: spirv-dis %t.spv | FileCheck %s
// CHECK-COUNT-24: OpEntryPoint Kernel
// CHECK-NOT: OpEntryPoint

#define KERNEL [[clang::annotate("okl.kernel")]]
#define OUTER [[clang::annotate("okl.outer")]]
#define INNER [[clang::annotate("okl.inner")]]
#define ONE(name, times)                                                                            \
  KERNEL void name(int n, const double *x, double *y) {                                             \
    for (OUTER int o = 0; o < n; o += 64)                                                           \
      for (INNER int i = 0; i < 64; ++i)                                                            \
        for (int k = 0; k < times; ++k)                                                             \
          if (x[o + i] > k) y[o + i] += x[o + i] * k; else y[o + i] -= 2;                            \
  }
ONE(k0, 3) ONE(k1, 10) ONE(k2, 17) ONE(k3, 24) ONE(k4, 31) ONE(k5, 38)
ONE(k6, 45) ONE(k7, 52) ONE(k8, 59) ONE(k9, 66) ONE(k10, 73) ONE(k11, 80)
ONE(k12, 87) ONE(k13, 94) ONE(k14, 101) ONE(k15, 108) ONE(k16, 115) ONE(k17, 122)
ONE(k18, 129) ONE(k19, 136) ONE(k20, 143) ONE(k21, 150) ONE(k22, 157) ONE(k23, 164)
KERNEL void none(int n, const __bf16 *x, __bf16 *y) {
  for (OUTER int o = 0; o < n; o += 64)
    for (INNER int i = 0; i < 64; ++i) y[o + i] = x[o + i] * x[i];
}
