// Floating-point numbers of every width, with strict exceptions and rounding as well.
// RUN: %S/compile %plugin %s
// RUN: %S/compile %plugin %s -ffp-model=strict -ftrapping-math
// RUN: %S/compile %plugin %s -Ofast -march=native
#include <fenv.h>
#include <math.h>
#include <stdio.h>
_Float16 half[40];
__bf16 brain[40];
float single[40];
double twice[40];
long double extended[40];
__float128 quad[40];

int main(void) {
  _Float16 h = 0;
  long double l = 0;
  __float128 q = 0;
  float f = 0;
#pragma omp parallel for reduction(+ : h, l, f) firstprivate(q)
  for (int i = 0; i < 40; i++) {
    half[i] = i;
    single[i] = sqrtf(i) * 0x1p-3f;
    brain[i] = (__bf16)single[i];
    twice[i] = sin(single[i]) + lgamma(i + 1);
    extended[i] = fmal(i, 2, powl(i, 3));
    quad[i] = q + i;
    h += half[i] + (_Float16)brain[i];
    l += extended[i];
    f += fabsf(single[i]);
    if (isnan(f) || signbit(l) || fetestexcept(FE_DIVBYZERO))
      feclearexcept(FE_ALL_EXCEPT);
#pragma omp atomic
    single[i / 2] += 1;
#pragma omp atomic
    extended[i / 2] += 1;
  }
  float least = 1e9f;
#pragma omp parallel for simd reduction(min : least) schedule(static, 3)
  for (int i = 0; i < 40; i++)
    least = fminf(least, single[i]);
  printf("%g %Lg %g\n", (double)h, l, least);
  return 0;
}
