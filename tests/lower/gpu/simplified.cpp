// What NVIDIA's assembler makes most of: sums and not bits that are put together; questions behind each other that stay
// branches of their own; loops that go on while a number is less; addresses that are computed from others nearby.
//
// RUN: clang++-22 -std=c++17 -O2 -emit-llvm -c -Xclang -disable-llvm-passes %s -o %t.bc && opt-22 -load-pass-plugin=%plugin -okl-target=cuda -passes='print<okl-device>' -disable-output %t.bc 2>&1 | FileCheck --implicit-check-not=error --implicit-check-not=or.b32 %s

#define KERNEL [[clang::annotate("okl.kernel")]]
#define OUTER [[clang::annotate("okl.outer")]]
#define INNER [[clang::annotate("okl.inner")]]

// The number of a work item is a product and a sum, which one instruction computes.
// CHECK-LABEL: .entry okl__Z3sumiPKfPf_0(
// CHECK:       shl.b32 %[[BLOCK:r[0-9]+]], %{{r[0-9]+}}, 6;
// CHECK:       add.s32 %{{r[0-9]+}}, {{.*}}%[[BLOCK]]
KERNEL void sum(int n, const float *__restrict__ a, float *__restrict__ b) {
  for (OUTER int o = 0; o < n; o += 64)
    for (INNER int i = 0; i < 64; ++i) b[o + i] += a[o + i];
}

// Each is a branch around a store.
// CHECK-LABEL: .entry okl__Z7bordersiPKfPf_1(
// CHECK:       setp.ne.b32 %[[FIRST:p[0-9]+]], %[[ITEM:r[0-9]+]], 0;
// CHECK:       @%[[FIRST]] bra
// CHECK-NOT:   bra
// CHECK:       st.global
// CHECK-NOT:   bra
// CHECK:       setp.ne.b32 %[[LAST:p[0-9]+]], %[[ITEM]], 63;
// CHECK:       @%[[LAST]] bra
// CHECK-NOT:   bra
// CHECK:       st.global
// CHECK-NOT:   bra
// CHECK:       ret;
KERNEL void borders(int n, const float *__restrict__ a, float *__restrict__ b) {
  for (OUTER int o = 0; o < n; o += 64)
    for (INNER int i = 0; i < 64; ++i) {
      if (i == 0) b[o] = a[o + n];
      if (i == 63) b[o + n] = a[o];
    }
}

// However it is unrolled.
// CHECK-LABEL: .entry okl__Z4rowsiPKiPKfPf_2(
// CHECK:       [[LOOP:\$L__BB[0-9_]+]]:
// CHECK:       setp.{{lt|gt}}.s32 %[[GOES:p[0-9]+]],
// CHECK-NEXT:  @%[[GOES]] bra $L__BB
// CHECK:       ret;
KERNEL void rows(int n, const int *__restrict__ first, const float *__restrict__ a, float *__restrict__ b) {
  for (OUTER int o = 0; o < n; o += 64)
    for (INNER int i = o; i < o + 64; ++i) {
      float sum = 0;
      for (int at = first[i]; at < first[i + 1]; ++at) sum += a[at];
      b[i] = sum;
    }
}

// Rows of a matrix, each from the one before: by one multiple of n.
// CHECK-LABEL: .entry okl__Z7columnsiPKfPf_3(
// CHECK:       mul.wide.s32 %[[ROW:rd[0-9]+]], %{{r[0-9]+}}, 32;
// CHECK:       add.s64 %[[SECOND:rd[0-9]+]], %{{rd[0-9]+}}, %[[ROW]];
// CHECK:       add.s64 %[[THIRD:rd[0-9]+]], %[[SECOND]], %[[ROW]];
// CHECK:       add.s64 %{{rd[0-9]+}}, %[[THIRD]], %[[ROW]];
// CHECK-NOT:   mul.wide.s32
// CHECK:       ret;
KERNEL void columns(int n, const float *__restrict__ a, float *__restrict__ b) {
  for (OUTER int o = 0; o < n; o += 64)
    for (INNER int i = 0; i < 64; ++i) {
      float sum = 0;
      for (int row = 0; row < 32; row += 8) sum += a[(o + row) * n + i];
      b[i] = sum;
    }
}

// Numbers without a sign overflow as they please: nothing is known of what lies between.
// CHECK-LABEL: .entry okl__Z5wrapsjPKfPf_4(
// CHECK-NOT:   mul.wide.u32 {{.*}}, 32;
// CHECK:       ret;
KERNEL void wraps(unsigned n, const float *__restrict__ a, float *__restrict__ b) {
  for (OUTER int o = 0; o < 640; o += 64)
    for (INNER int i = 0; i < 64; ++i) {
      float sum = 0;
      for (int row = 0; row < 32; row += 8) sum += a[unsigned(o + row) * n + unsigned(i)];
      b[i] = sum;
    }
}
