// Blocks see what the kernel has, of every type, and have variables of every kind themselves.
// RUN: for level in "-O0 -g" "-O2 -g" "-O3 -march=native"; do clang++-22 -std=c++17 -Wno-vla-cxx-extension $level -fopenmp -fpass-plugin=%plugin %s -L%runtime-dir -lokl_cpu -Wl,-rpath,%runtime-dir -o %t || exit 1; for threads in 1 2 5; do OMP_NUM_THREADS=$threads %t || exit 1; done; done
#include "okl.h"

#include <complex>
#include <cstdio>
#include <cstdlib>
#include <vector>

static int wrong;
#define CHECK(is_right)                       \
  if (!(is_right)) {                          \
    wrong++;                                  \
    printf("wrong: line %d\n", __LINE__);     \
  }

KERNEL void without_exceptions(int n, int *a) noexcept {
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 4; ++i)
      a[o * 4 + i] = abs(o - i);
}

KERNEL void captured(int n, bool flag, char c, float f, long double l, __int128 big, std::complex<double> z,
                     const int &reference, double *a) {
  const int table[4] = {1, 2, 3, 4};
  double halves[n];
  for (int i = 0; i < n; i++)
    halves[i] = i * 0.5;
  auto add = [f](double x) { return x + f; };
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 4; ++i)
      a[o * 4 + i] = table[i] + add(halves[o]) + (flag ? c : 0) + (double)l + (double)big + z.imag() + reference;
}

KERNEL void inside(int n, int *a) {
  for (OUTER int o = 0; o < n; ++o) {
    int local[o % 3 + 1];
    for (int k = 0; k <= o % 3; k++)
      local[k] = k + o;
    int first = o;
    std::vector<int> v(4, first);
    int sum = 0;
    for (int x : v)
      sum += x;
    int k = 0;
  again:
    if (++k < 3)
      goto again;
    int at = local[o % 3];
    static const int fixed[2] = {5, 6};
    for (INNER int i = 0; i < 4; ++i) {
      int w = i;
      while (w > 1)
        --w;
      a[o * 4 + i] = 2 * w + at + k + fixed[i % 2] + sum;
    }
  }
}

// Functions as parameters.
struct Times {
  int by;
  int operator()(int x) const { return x * by; }
};
template <typename F> __attribute__((annotate("okl.kernel"))) void apply(int n, F f, int *a) {
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 4; ++i)
      a[o * 4 + i] = f(o);
}

// Nests under conditions of the kernel, and a block that may end the program.
namespace {
__attribute__((annotate("okl.kernel"))) void hidden(int n, int *a) {
  if (n < 3)
    return;
  for (OUTER int o = n - 1; o >= 0; --o)
    for (INNER int i = 0; i < 4; ++i) {
      if (a[0] < -1000)
        exit(3);
      a[o * 4 + i] += o;
    }
  if (n > 5)
    for (OUTER int o = 0; o < n; ++o)
      for (INNER int i = 0; i < 4; ++i)
        a[o * 4 + i] += 1;
  else
    for (OUTER int o = 0; o < n; ++o)
      for (INNER int i = 0; i < 4; ++i)
        a[o * 4 + i] += 2;
}
} // namespace

int main() {
  const int n = 23, all = n * 4;
  std::vector<int> a(all);
  std::vector<double> d(all);
  without_exceptions(n, a.data());
  for (int k = 0; k < all; k++)
    CHECK(a[k] == abs(k / 4 - k % 4));
  int reference = 11;
  captured(n, true, 3, 0.25f, 1.5L, 100, {1, 2}, reference, d.data());
  for (int k = 0; k < all; k++)
    CHECK(d[k] == (k % 4 + 1) + k / 4 * 0.5 + 0.25 + 3 + 1.5 + 100 + 2 + 11);
  inside(n, a.data());
  for (int k = 0; k < all; k++) {
    int o = k / 4, i = k % 4;
    CHECK(a[k] == 2 * (i > 1 ? 1 : i) + o % 3 + o + 3 + (i % 2 ? 6 : 5) + 4 * o);
  }
  apply(n, Times{3}, a.data());
  for (int k = 0; k < all; k++)
    CHECK(a[k] == k / 4 * 3);
  int m = 5;
  apply(n, [&](int x) { return x + m; }, a.data());
  for (int k = 0; k < all; k++)
    CHECK(a[k] == k / 4 + 5);
  hidden(n, a.data());
  for (int k = 0; k < all; k++)
    CHECK(a[k] == 2 * (k / 4) + 6);
  hidden(4, a.data());
  for (int k = 0; k < 16; k++)
    CHECK(a[k] == 3 * (k / 4) + 8);
  return wrong > 0;
}
