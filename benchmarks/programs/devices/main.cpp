// Calls each kernel once on data that are the same in every run, and prints a checksum of what it wrote: `KERNEL checksum VALUE`.
// With an argument, on as much data as keeps a device busy for a while.

#include <cstdio>
#include <vector>

#include "kernels.h"

template <typename T> static std::vector<T> numbers(size_t count) {
  unsigned state = 12345;
  std::vector<T> all(count);
  for (T &one : all) {
    state = state * 1664525u + 1013904223u;
    one = T(state >> 8) / T(1 << 24);
  }
  return all;
}

static std::vector<int> places(size_t count, int below) {
  unsigned state = 54321;
  std::vector<int> all(count);
  for (int &one : all) {
    state = state * 1664525u + 1013904223u;
    one = int((state >> 8) % unsigned(below));
  }
  return all;
}

template <typename T> static void tell(const char *kernel, const std::vector<T> &of) {
  double sum = 0;
  for (size_t at = 0; at < of.size(); ++at) sum += double(of[at]) * double(1 + at % 7);
  printf("%s checksum %.17g\n", kernel, sum);
}

int main(int argc, char **) {
  const auto size = [argc](int few, int many) { return argc > 1 ? many : few; };
  {
    const int n = size(50000, 1 << 26);
    auto x = numbers<float>(n), y = x;
    saxpy(n, 0.5f, x.data(), y.data());
    tell("saxpy", y);
  }
  {
    const int n = size(192, 8192);
    auto u = numbers<float>((n + 2) * (n + 2));
    std::vector<float> v(u.size());
    stencil(n, u.data(), v.data());
    tell("stencil", v);
  }
  {
    const int n = size(50000, 1 << 26);
    auto a = numbers<float>(n);
    std::vector<float> sums((n + 255) / 256);
    reduction(n, a.data(), sums.data());
    tell("reduction", sums);
  }
  {
    const int n = size(128, 2048);
    auto a = numbers<float>(n * n), b = a;
    std::vector<float> c(a.size());
    product(n, a.data(), b.data(), c.data());
    tell("product", c);
  }
  {
    const int n = size(20000, 1 << 23), nodes = size(5000, 1 << 21);
    auto ends = places(2 * n, nodes);
    auto value = numbers<double>(nodes);
    std::vector<double> sums(nodes);
    edges(n, ends.data(), value.data(), sums.data());
    tell("edges", sums);
  }
  {
    const int n = size(10000, 1 << 25);
    auto x = numbers<double>(n);
    std::vector<double> y(n);
    polynomial(n, x.data(), y.data());
    tell("polynomial", y);
    functions(n, x.data(), y.data());
    tell("functions", y);
  }
  {
    const int n = size(192, 8192);
    auto a = numbers<float>(n * n);
    std::vector<float> b(a.size());
    transpose(n, a.data(), b.data());
    tell("transpose", b);
  }
  {
    const int rows = size(5000, 1 << 21);
    std::vector<int> first(rows + 1);
    for (int row = 0; row < rows; ++row) first[row + 1] = first[row] + 3 + row % 5;
    auto column = places(first[rows], rows);
    auto value = numbers<double>(first[rows]), x = numbers<double>(rows);
    std::vector<double> y(rows);
    sparse(rows, first.data(), column.data(), value.data(), x.data(), y.data());
    tell("sparse", y);
  }
  {
    const int n = size(32, 1024);
    auto now = numbers<float>((n + 2) * (n + 2) * 34), next = now;
    wave(n, 0.1f, now.data(), next.data());
    tell("wave", next);
  }
  {
    const int n = size(254, 8190);
    auto now = numbers<double>((n + 2) * (n + 2)), next = now;
    sweep(n, now.data(), next.data());
    tell("sweep", next);
  }
  {
    const int n = size(254, 8190);
    auto now = numbers<double>((n + 2) * (n + 2)), next = now;
    rows(n, now.data(), next.data());
    tell("rows", next);
  }
  {
    const int n = size(62, 382);
    auto now = numbers<double>((n + 2) * (n + 2) * (n + 2)), next = now;
    cube(n, now.data(), next.data());
    tell("cube", next);
  }
  {
    const int n = size(50000, 1 << 26);
    auto x = numbers<double>(n), y = x;
    axpy(n, 0.5, x.data(), y.data());
    tell("axpy", y);
  }
  {
    const int n = size(300000, 1 << 26);
    auto x = numbers<double>(n), y = x;
    for (int at = 0; at < n; ++at) y[at] = x[(at + 7) % n];
    tell("distance", std::vector<double>{distance(n, x.data(), y.data())});
    const Moments sums = moments(n, x.data(), y.data());
    tell("moments", std::vector<double>{sums.first, sums.second, sums.third});
    const Extremes ends = extremes(n, y.data());
    tell("extremes", std::vector<double>{ends.least, ends.most});
  }
  {
    const int count = size(5000, 1 << 21);
    std::vector<int> first(count + 1);
    for (int row = 0; row < count; ++row) first[row + 1] = first[row] + 3 + row % 5;
    auto column = places(first[count], count);
    auto value = numbers<double>(first[count]), x = numbers<double>(count);
    std::vector<double> y(count);
    multiply(count, first.data(), column.data(), value.data(), x.data(), y.data());
    tell("multiply", y);
  }
  {
    const int n = size(50000, 1 << 26), different = 300;
    auto of = places(n, different);
    std::vector<int> count(different);
    histogram(n, of.data(), count.data());
    tell("histogram", count);
  }
}
