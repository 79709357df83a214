// The same kernels for AMD's devices and as SPIR-V: what they are passed, what a block shares and how many work items it has,
// where these wait, what is updated at once, where constants are.
//
// REQUIRES: spirv-val spirv-dis
// RUN: clang++-22 -std=c++17 -O2 -emit-llvm -c -Xclang -disable-llvm-passes %s -o %t.bc
// RUN: opt-22 -load-pass-plugin=%plugin -okl-target=hip:gfx90a -passes='print<okl-device>' -disable-output %t.bc >%t.amd 2>&1 && llvm-readelf-22 -h --notes %t.amd | FileCheck --check-prefixes=NOTES,GFX90A %s && llvm-objdump-22 -d %t.amd | FileCheck --check-prefixes=AMD,CODE-GFX90A %s
// RUN: opt-22 -load-pass-plugin=%plugin -okl-target=hip:gfx942 -passes='print<okl-device>' -disable-output %t.bc >%t.amd 2>&1 && llvm-readelf-22 -h --notes %t.amd | FileCheck --check-prefixes=NOTES,GFX942 %s && llvm-objdump-22 -d %t.amd | FileCheck --check-prefixes=AMD,CODE-GFX942 %s
// RUN: opt-22 -load-pass-plugin=%plugin -okl-target=hip:gfx1100 -passes='print<okl-device>' -disable-output %t.bc >%t.amd 2>&1 && llvm-readelf-22 -h --notes %t.amd | FileCheck --check-prefixes=NOTES,GFX1100 %s && llvm-objdump-22 -d %t.amd | FileCheck --check-prefixes=AMD,CODE-GFX1100 %s
// RUN: opt-22 -load-pass-plugin=%plugin -okl-target=spirv -passes='print<okl-device>' -disable-output %t.bc >%t.spv 2>&1 && spirv-val %t.spv && spirv-dis %t.spv | FileCheck --check-prefix=SPIRV --implicit-check-not=Generic --implicit-check-not=OpExtension %s
//
// Of each program with kernels on a device the module is valid, whatever the environment.
// RUN: for one in reductions scans stencils sparse spectral matrices histograms tiles waves vectors dimensions structure; do %okl-c++ --okl-normalize %S/../../okl/$one.okl >%t.cpp && clang++-22 -w -std=c++17 -I%S/../../okl -O2 -emit-llvm -c -Xclang -disable-llvm-passes %t.cpp -o %t.bc && opt-22 -load-pass-plugin=%plugin -okl-target=spirv -passes='print<okl-device>' -disable-output %t.bc >%t.spv 2>&1 && spirv-val %t.spv || exit 1; done

#define KERNEL [[clang::annotate("okl.kernel")]]
#define OUTER [[clang::annotate("okl.outer")]]
#define INNER [[clang::annotate("okl.inner")]]
#define SHARED [[clang::annotate("okl.shared")]]
extern "C" void __okl_atomic_begin(int) __attribute__((convergent));
extern "C" void __okl_atomic_end() __attribute__((convergent));
extern "C" double exp(double);

// GFX90A: Flags: 0x53f, gfx90a, xnack, sramecc
// GFX942: Flags: 0x54c, gfx942, xnack, sramecc
// GFX1100: Flags: 0x41, gfx1100
// SPIRV: OpEntryPoint Kernel %{{.*}} "okl__Z5sharei4PairPKdPd_0"
// SPIRV: OpEntryPoint Kernel %{{.*}} "okl__Z3addiiPKiPdPi_1"
// SPIRV-DAG: OpTypePointer UniformConstant
// SPIRV-DAG: OpTypePointer Workgroup
// SPIRV-DAG: OpVariable %{{.*}} UniformConstant

struct Pair {
  double factor;
  int first;
};
static const double table[5] = {1, 2, 3, 5, 7};

// NOTES: .args:
// NOTES-NEXT: {{- +}}.offset: 0
// NOTES-NEXT: .size: 16
// NOTES-NEXT: .value_kind: by_value
// NOTES-NEXT: {{- +}}.address_space: global
// NOTES-NEXT: .offset: 16
// NOTES-NEXT: .size: 8
// NOTES-NEXT: .value_kind: global_buffer
// NOTES-NEXT: {{- +}}.address_space: global
// NOTES-NEXT: .offset: 24
// NOTES-NEXT: .size: 8
// NOTES-NEXT: .value_kind: global_buffer
// NOTES: .group_segment_fixed_size: 1024
// NOTES: .kernarg_segment_size: 32
// NOTES: .max_flat_workgroup_size: 128
// NOTES: .name: okl__Z5sharei4PairPKdPd_0
// NOTES: .private_segment_fixed_size: 0
// NOTES: .symbol: okl__Z5sharei4PairPKdPd_0.kd
// NOTES: .uniform_work_group_size: 1
// AMD-LABEL: <okl__Z5sharei4PairPKdPd_0>:
// AMD: ds_{{write|store}}_b64
// AMD: s_barrier
// AMD: ds_{{read|load}}_b64
// AMD: s_endpgm
// SPIRV: OpFunction %void
// SPIRV: OpFunctionParameter %_ptr_Function_struct_Pair
// SPIRV: OpFunctionParameter %_ptr_CrossWorkgroup_double
// SPIRV: OpExtInst %double %{{.*}} exp
// SPIRV: OpControlBarrier
// SPIRV-NOT: OpControlBarrier
// SPIRV: OpFunctionEnd
KERNEL void share(int n, Pair pair, const double *x, double *y) {
  for (OUTER int o = 0; o < n; o += 128) {
    SHARED double s[128];
    for (INNER int i = 0; i < 128; ++i) s[i] = exp(x[o + i]) * pair.factor + table[i % 5];
    for (INNER int i = 0; i < 128; ++i) y[o + i + pair.first] = s[127 - i];
  }
}

// NOTES: .max_flat_workgroup_size: 1024
// NOTES: .name: okl__Z3addiiPKiPdPi_1
// AMD-LABEL: <okl__Z3addiiPKiPdPi_1>:
// AMD-DAG: global_atomic_add{{(_u32)?}} v
// CODE-GFX90A-DAG: global_atomic_add_f64
// CODE-GFX942-DAG: global_atomic_add_f64
// CODE-GFX1100-DAG: global_atomic_cmpswap_b64
// AMD: s_endpgm
// SPIRV: OpFunction %void
// SPIRV-DAG: OpAtomicCompareExchange %ulong
// SPIRV-DAG: OpAtomicIAdd %uint
// SPIRV: OpFunctionEnd
KERNEL void add(int n, int m, const int *k, double *h, int *count) {
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < m; ++i) {
      __okl_atomic_begin(0);
      h[k[i]] += 1;
      __okl_atomic_end();
      __okl_atomic_begin(0);
      count[k[i]] += i;
      __okl_atomic_end();
    }
}
