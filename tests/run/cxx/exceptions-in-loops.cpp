// Exceptions in functions with orphaned loops: thrown between loops and handled in the region, and thrown and caught in an
// iteration, among loops that declare what they access.
// opt: -O0 -O2
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>
#include <string>
enum { N = 3000 };
static double a[N], b[N], c[N];
static int caught[N];
__attribute__((noinline)) double check(double v, double limit) {
  if (v > limit) throw std::runtime_error("large: " + std::to_string(v));
  return v + 1;
}
__attribute__((noinline)) static void half(int k) {
#pragma omp for
  for (int i = 1; i < N - 1; i++)
    b[i] = (a[i - 1] + a[i + 1]) * 0.5 + k;
  if (k == 3) throw k;
}
__attribute__((noinline)) static void step(int k) {
  half(k);
#pragma omp for
  for (int i = 1; i < N - 1; i++)
    a[i] = check(b[i], 1e30);
}
int main() {
  for (int i = 0; i < N; i++) { a[i] = i % 97; b[i] = 0; c[i] = 0; }
  int handled = 0;
  // Thrown between loops, handled in the region.
#pragma omp parallel reduction(+ : handled)
  for (int k = 0; k < 6; k++) {
    try { step(k); } catch (int which) { handled += which; }
#pragma omp barrier
  }
  // Thrown and caught in an iteration.
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < N; i++) c[i] = a[i] + b[N - 1 - i];
#pragma omp for
    for (int i = 0; i < N; i++) {
      try { c[i] = check(c[i], 120); } catch (const std::exception &e) { caught[i] = e.what()[0]; c[i] = -c[i]; }
    }
#pragma omp for
    for (int i = 1; i < N - 1; i++) a[i] = c[i - 1] + c[i + 1] + caught[i];
  }
  double s = 0; int n = 0;
  for (int i = 0; i < N; i++) { s += a[i] * (i % 7) + c[i]; n += caught[i]; }
  printf("%.12g %d %d\n", s, n, handled);
}
