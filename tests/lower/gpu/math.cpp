// Mathematical functions of devices come from libclc, and are part of the code.
//
// RUN: for level in "-O2" "-O2 -fno-math-errno" "-O2 -ffast-math"; do clang++-22 -std=c++17 $level -emit-llvm -c -Xclang -disable-llvm-passes %s -o %t.bc && opt-22 -load-pass-plugin=%plugin -okl-target=cuda -passes='print<okl-device>' -disable-output %t.bc >%t.ptx 2>&1; FileCheck --implicit-check-not=.extern --implicit-check-not=error %s <%t.ptx || exit 1; done

#include <cmath>

#define KERNEL [[clang::annotate("okl.kernel")]]
#define OUTER [[clang::annotate("okl.outer")]]
#define INNER [[clang::annotate("okl.inner")]]

// CHECK-LABEL: .entry okl__Z5aloneiPKdPdPf_0(
// CHECK:       sqrt{{.*}}.f64
// CHECK:       ret;
KERNEL void alone(int n, const double *x, double *y, float *z) {
  for (OUTER int o = 0; o < n; o += 128)
    for (INNER int i = o; i < o + 128; ++i)
      if (i < n) {
        y[i] = std::sqrt(x[i]) + exp(x[i]) * std::pow(x[i], 1.5) + sin(x[i]) + fabs(x[i]) + std::fmax(x[i], 2) + floor(x[i]);
        y[i] += log(x[i]) + tanh(x[i]) + std::cbrt(y[i]) + erf(y[i]) + atan2(x[i], y[i]) + hypot(x[i], y[i]) + fmod(x[i], 3);
        z[i] = sinf(z[i]) + expf(z[i]) * cosf(z[i]) + std::pow(z[i], 2.5f) + std::tgamma(z[i]);
      }
}
