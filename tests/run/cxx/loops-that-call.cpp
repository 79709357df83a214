// A region of several loops, each of which calls functions of which it is not said that they throw nothing.
// threads: any
#include <algorithm>
#include <cstdio>
#include <vector>

static double twice(double x);
template <class Body> static void each(int n, const Body &body) {
  for (int j = 0; j < n; j++) body(j);
}

int main() {
  const int n = 60, steps = 3;
  int tile = 7;
  std::vector<double> u(n), v(n);
  double *a = u.data(), *b = v.data();
  double most = 0;
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; i++) a[i] = twice(i);
    for (int t = 0; t < steps; t++) {
#pragma omp for
      for (int i = 0; i < n; i += tile)
        for (int j = i; j < std::min(n, i + tile); j++) b[j] += twice(a[j]) + t;
#pragma omp single
      tile = std::max(tile - 2, 1);
#pragma omp for
      for (int i = 0; i < n; i++) {
        double sum = 0;
        each(i, [&](int j) { sum += b[j] / (i + j); });
        a[i] = sum;
      }
    }
#pragma omp for reduction(max : most)
    for (int i = 0; i < n; i++) most = std::max(most, twice(b[i] - a[i]));
  }
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * (i % 7) - b[i];
  std::printf("%.9g %.9g\n", most, sum);
}

static double twice(double x) { return x < 3 ? x : 2 * x; }
