// Complex numbers of every size, in reductions and atomics.
// RUN: %S/compile %plugin %s
#include <complex.h>
#include <stdio.h>
_Complex float f[20];
_Complex double d[20];
_Complex long double l[20];
_Complex int n;

static double _Complex square(double _Complex z) { return z * z; }

int main(void) {
  double _Complex s = 0, p = 1;
  float _Complex t = 0;
  long double _Complex u = 0;
#pragma omp parallel for reduction(+ : s, t, u) reduction(* : p)
  for (int i = 0; i < 20; i++) {
    d[i] = i + 2.0 * I;
    f[i] = conj(d[i]);
    l[i] = d[i] / (1 + I);
    s += square(d[i]);
    t += f[i] * f[i];
    u += l[i];
    p *= cexp(I * i);
#pragma omp atomic
    __real__ n += 1;
#pragma omp critical
    n += 1i;
  }
  printf("%g %g %g %d\n", creal(s), crealf(t), (double)creall(u), __real__ n);
  return cabs(p) > 0 ? 0 : 1;
}
