// What SPIR-V has not, and PTX and AMD's devices have; and what LLVM has no code for ends no compiler.
//
// RUN: not clang++-22 -std=c++17 -O2 -g -ferror-limit=0 -fpass-plugin=%plugin -mllvm -okl-target=spirv -c %s -o %t.o 2>&1 | grep -E 'error:|warning:' | FileCheck --implicit-check-not=error: --implicit-check-not=warning: %s
// RUN: clang++-22 -std=c++17 -O2 -g -fpass-plugin=%plugin -mllvm -okl-target=spirv,cpu -c %s -o %t.o 2>&1 | FileCheck --check-prefix=ELSE %s
// RUN: clang++-22 -std=c++17 -O2 -g -Werror -fpass-plugin=%plugin -mllvm -okl-target=cuda,hip -c %s -o %t.o
//
// What others run goes to these, and the program says so where it is to run there all the same.
// RUN: %okl-c++ -std=c++17 -O2 -g -DMAIN --okl-target=cuda,spirv %s -o %t 2>&1 | grep -E 'error:|warning:' | FileCheck --check-prefix=PARTLY --implicit-check-not=error: %s
// RUN: OKL_BACKEND=cuda-emulated %t | FileCheck --check-prefix=RAN %s
// RUN: %okl-c++ -std=c++17 -O2 -g -DMAIN --okl-target=cuda,spirv,cpu %s -o %t 2>&1 | grep -E 'error:|warning:' | FileCheck --check-prefix=THERE --implicit-check-not=error: %s
// RUN: for way in cpu cuda-emulated; do OKL_BACKEND=$way %t | FileCheck --check-prefix=RAN %s || exit 1; done
// PARTLY-COUNT-3: warning: this cannot run on an OpenCL device: it
// THERE-COUNT-3: warning: this cannot run on an OpenCL device, so the processor runs it there: it
// RAN: 64 4 2
// ELSE: warning: this cannot run on a device, so the processor runs it: it has a pointer that may lead to memory of several kinds
//
// RUN: not clang++-22 -std=c++17 -O2 -DUNKNOWN -fpass-plugin=%plugin -mllvm -okl-target=spirv -c %s -o %t.o 2>&1 | FileCheck --check-prefix=UNKNOWN %s
// UNKNOWN: spirv.cpp:[[# @LINE + 54]]:{{[0-9]+}}: error: this cannot run on a device: LLVM has no code for it for an OpenCL device
// UNKNOWN-NOT: {{LLVM ERROR|PLEASE}}

#define KERNEL [[clang::annotate("okl.kernel")]]
#define OUTER [[clang::annotate("okl.outer")]]
#define INNER [[clang::annotate("okl.inner")]]
#define SHARED [[clang::annotate("okl.shared")]]
extern "C" void __okl_barrier(int) __attribute__((convergent));
extern "C" void __okl_atomic_begin(int) __attribute__((convergent));
extern "C" void __okl_atomic_end() __attribute__((convergent));

#ifndef UNKNOWN
// CHECK: spirv.cpp:[[# @LINE + 2]]:{{[0-9]+}}: error: this cannot run on a device: it has a pointer that may lead to memory of several kinds, which an OpenCL device cannot do
KERNEL void either(int n, const double *x, double *y) {
  for (OUTER int o = 0; o < n; o += 64) {
    SHARED double s[64];
    for (INNER int i = 0; i < 64; ++i) s[i] = x[o + i];
    for (INNER int i = 0; i < 64; ++i) {
      const double *from = n > 1000 ? s : x;
      y[o + i] = from[63 - i];
    }
  }
}

// CHECK: spirv.cpp:[[# @LINE + 2]]:{{[0-9]+}}: error: this cannot run on a device: it computes with integers of 128 bits, which an OpenCL device cannot do
KERNEL void wide(int n, const long *x, long *y) {
  for (OUTER int o = 0; o < n; o += 64)
    for (INNER int i = 0; i < 64; ++i) y[o + i] = (__int128)x[o + i] * x[i] >> 64;
}

// CHECK: spirv.cpp:[[# @LINE + 2]]:{{[0-9]+}}: error: this cannot run on a device: it accesses objects of less than 4 bytes at once, which an OpenCL device cannot do
KERNEL void narrow(int n, const int *k, unsigned char *count) {
  for (OUTER int o = 0; o < n; o += 64)
    for (INNER int i = 0; i < 64; ++i) {
      __okl_atomic_begin(0);
      count[k[o + i]] += 1;
      __okl_atomic_end();
    }
}

#ifdef MAIN
#include <cstdio>

int main() {
  double x[64], y[64] = {};
  long a[64] = {1L << 62, 1L << 63}, b[64] = {};
  for (int i = 0; i < 64; i++) x[i] = i + 1;
  either(64, x, y);
  wide(64, a, b);
  printf("%g %ld %ld\n", y[0], b[0] >> 58, b[1] >> 61);
}
#endif
#else
KERNEL void unknown(int n, const __bf16 *x, __bf16 *y) {
  for (OUTER int o = 0; o < n; o += 64)
    for (INNER int i = 0; i < 64; ++i) y[o + i] = x[o + i] * x[i];
}
#endif
