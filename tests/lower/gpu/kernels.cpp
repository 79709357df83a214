// Kernels of a device: how many work items they have, what these share, where they wait for each other, what is read only.
//
// RUN: clang++-22 -std=c++17 -O2 -emit-llvm -c -Xclang -disable-llvm-passes %s -o %t.bc
// RUN: opt-22 -load-pass-plugin=%plugin -okl-target=cuda -passes='print<okl-device>' -disable-output %t.bc >%t.ptx 2>&1; FileCheck --implicit-check-not=.extern --implicit-check-not=error %s <%t.ptx
// The same of code that is not to be optimised.
// RUN: clang++-22 -std=c++17 -O0 -emit-llvm -c -Xclang -disable-llvm-passes %s -o %t.0.bc
// RUN: opt-22 -load-pass-plugin=%plugin -okl-target=cuda -passes='print<okl-device>' -disable-output %t.0.bc >%t.0.ptx 2>&1; FileCheck --implicit-check-not=.extern --implicit-check-not=error %s <%t.0.ptx
// Lines of the source.
// RUN: clang++-22 -std=c++17 -O2 -g -emit-llvm -c -Xclang -disable-llvm-passes %s -o %t.g.bc
// RUN: opt-22 -load-pass-plugin=%plugin -okl-target=cuda -passes='print<okl-device>' -disable-output %t.g.bc 2>&1 | FileCheck --check-prefix=LINES %s

#define KERNEL [[clang::annotate("okl.kernel")]]
#define OUTER [[clang::annotate("okl.outer")]]
#define INNER [[clang::annotate("okl.inner")]]
#define SHARED [[clang::annotate("okl.shared")]]
#define EXCLUSIVE [[clang::annotate("okl.exclusive")]]
extern "C" void __okl_barrier(int) __attribute__((convergent));
extern "C" void __okl_atomic_begin(int) __attribute__((convergent));
extern "C" void __okl_atomic_end() __attribute__((convergent));

// CHECK: .version 7.0
// CHECK: .target sm_70{{$}}
// LINES: .target sm_70{{$}}

// CHECK-LABEL: .entry okl__Z5saxpyifPKfPf_0(
// CHECK-NEXT:    .param .u32 {{.*}},
// CHECK-NEXT:    .param .f32 {{.*}},
// CHECK-NEXT:    .param .u64 .ptr .global {{.*}},
// CHECK-NEXT:    .param .u64 .ptr .global
// CHECK:       .maxntid 256, 1, 1
// CHECK-NOT:   bar.sync
// CHECK:       ld.global.nc.b32
// CHECK:       ld.global.b32
// CHECK:       st.global.b32
// CHECK:       ret;
// LINES-LABEL: .entry okl__Z5saxpyifPKfPf_0(
KERNEL void saxpy(int n, float a, const float *__restrict x, float *__restrict y) {
  for (OUTER int o = 0; o < n; o += 256)
    for (INNER int i = o; i < o + 256; ++i)
      if (i < n)
        // LINES: .loc 1 [[# @LINE + 1]]
        y[i] += a * x[i];
}

// Without `restrict` what is read may be written.
// CHECK-LABEL: .entry okl__Z7reverseiPKfPf_1(
// CHECK:       .maxntid 64, 1, 1
// CHECK:       .shared .align 16 .b8 okl_shared_1[256];
// CHECK-NOT:   {{bar.sync|setp}}
// CHECK:       ld.global.b32
// CHECK:       st.shared.b32
// CHECK-NOT:   {{bar.sync|setp}}
// CHECK:       bar.sync 0;
// CHECK-NOT:   {{bar.sync|setp}}
// CHECK:       ld.shared.b32
// A table of the file.
// CHECK:       ld.global.nc.b32
// CHECK-NOT:   {{bar.sync|setp}}
// CHECK:       ret;
static const float weights[4] = {1, 2, 3, 4};
KERNEL void reverse(int n, const float *x, float *y) {
  for (OUTER int o = 0; o < n; ++o) {
    SHARED float s[64];
    EXCLUSIVE float e;
    for (INNER int i = 0; i < 64; ++i) {
      s[i] = x[64 * o + i];
      e = 2 * s[i];
    }
    for (INNER int i = 0; i < 64; ++i) y[64 * o + i] = s[63 - i] + e * weights[i & 3];
  }
}

// A loop of the program around one over work items, and barriers at the end of each.
// CHECK-LABEL: .entry okl__Z6reduceiPKdPd_2(
// CHECK:       .maxntid 128, 1, 1
// CHECK:       .shared .align 16 .b8 okl_shared_2[1024];
// CHECK-COUNT-8: bar.sync 0;
// CHECK-NOT:   bar.sync
// CHECK:       ret;
KERNEL void reduce(int n, const double *x, double *sums) {
  for (OUTER int o = 0; o < (n + 127) / 128; ++o) {
    SHARED double s[128];
    for (INNER int i = 0; i < 128; ++i) s[i] = 128 * o + i < n ? x[128 * o + i] : 0;
    for (int half = 64; half > 0; half /= 2)
      for (INNER int i = 0; i < 128; ++i)
        if (i < half) s[i] += s[i + half];
    for (INNER int i = 0; i < 128; ++i)
      if (i == 0) sums[o] = s[0];
  }
}

// A barrier inside of a loop over work items.
// CHECK-LABEL: .entry okl__Z6insideiPKfPf_3(
// CHECK-NOT:   bar.sync
// CHECK:       st.shared.b32
// CHECK:       bar.sync 0;
// CHECK:       ld.shared.b32
// CHECK-NOT:   bar.sync
// CHECK:       ret;
KERNEL void inside(int n, const float *x, float *y) {
  for (OUTER int o = 0; o < n; ++o) {
    SHARED float s[64];
    for (INNER int i = 0; i < 64; ++i) {
      s[i] = x[64 * o + i];
      __okl_barrier(0);
      y[64 * o + i] = s[63 - i];
    }
  }
}

// Two loops over blocks in one kernel: two directions; and one that begins at a number of the program's, whose work items
// are counted when it runs.
// CHECK-LABEL: .entry okl__Z3twoiiPfS__4(
// CHECK:       .maxntid 16, 16, 1
// CHECK-DAG:   %ctaid.y;
// CHECK-DAG:   %tid.y;
// CHECK-DAG:   %ctaid.x;
// CHECK-DAG:   %tid.x;
// CHECK:       ret;
// CHECK-LABEL: .entry okl__Z3twoiiPfS__5(
// CHECK-NEXT:    .param .u32 {{.*}},
// CHECK-NEXT:    .param .u64 .ptr .global {{.*}},
// CHECK-NEXT:    .param .u64 .ptr .global {{.*}},
// CHECK-NEXT:    .param .u64 okl
// CHECK-NOT:   .maxntid
// CHECK:       setp
// CHECK:       ret;
KERNEL void two(int n, int m, float *a, float *b) {
  int half = n / 2;
  for (OUTER int p = 0; p < n; p += 16)
    for (OUTER int q = 0; q < m; q += 16)
      for (INNER int i = p; i < p + 16; ++i)
        for (INNER int j = q; j < q + 16; ++j)
          if (i < n && j < m) a[i * m + j] *= 2;
  a[0] += 1;
  for (OUTER int p = half; p < n; ++p)
    for (INNER int j = 0; j < m; ++j) b[p * m + j] += a[j];
}

// Loops over different numbers of work items: there are as many as the most, and others wait.
// CHECK-LABEL: .entry okl__Z9siblings_iPf_6(
// CHECK:       .maxntid 8, 1, 1
// CHECK:       setp
// CHECK:       bar.sync 0;
// CHECK-NOT:   bar.sync
// CHECK:       ret;
KERNEL void siblings_(int n, float *a) {
  for (OUTER int o = 0; o < n; ++o) {
    for (INNER int i = 0; i < 4; ++i) a[8 * o + 2 * i] = i;
    for (INNER int i = 0; i < 8; ++i) a[8 * o + i] += 1;
  }
}

// What each work item reads in front of a loop is not what another one writes in it.
// CHECK-LABEL: .entry okl__Z5frontiPf_7(
// CHECK:       ld.global
// CHECK:       bar.sync 0;
// CHECK-NOT:   bar.sync
// CHECK:       st.global
// CHECK:       ret;
KERNEL void front(int n, float *a) {
  for (OUTER int o = 0; o < n; ++o) {
    float first = a[8 * o];
    for (INNER int i = 0; i < 8; ++i) a[8 * o + i] += first;
  }
}

// CHECK-LABEL: .entry okl__Z7atomicsiPKiPfPi_8(
// CHECK:       atom.{{.*}}shared.add.u32
// CHECK:       atom.{{.*}}global.add.f32
// What is taken away is added.
// CHECK:       atom.{{.*}}global.add.f32 {{.*}}, 0fC0000000;
// CHECK-NOT:   cas
// CHECK:       ret;
KERNEL void atomics(int n, const int *k, float *h, int *total) {
  for (OUTER int o = 0; o < n; o += 64) {
    SHARED int own[1];
    for (INNER int i = o; i < o + 64; ++i)
      if (i == o) own[0] = 0;
    for (INNER int i = o; i < o + 64; ++i)
      if (i < n) {
        __okl_atomic_begin(0);
        own[0] += k[i];
        __okl_atomic_end();
        __okl_atomic_begin(0);
        h[k[i]] += 1;
        __okl_atomic_end();
        __okl_atomic_begin(0);
        h[0] -= 2;
        __okl_atomic_end();
      }
    for (INNER int i = o; i < o + 64; ++i)
      if (i == o) total[o / 64] = own[0];
  }
}
