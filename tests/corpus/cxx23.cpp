// C++23: deducing this, several subscripts, if consteval, auto(x), static operators.
// RUN: %S/compile %plugin %s -std=c++23
#include <cstddef>
#include <cstdio>
#include <utility>
#include <vector>
struct grid {
  std::size_t n;
  std::vector<double> cells = std::vector<double>(n * n);
  template <class Self> auto &&operator[](this Self &&self, std::size_t i, std::size_t j) {
    return std::forward<Self>(self).cells[i * self.n + j];
  }
};
struct adds {
  static constexpr int operator()(int a, int b) {
    if consteval {
      return a + b;
    } else {
      return b + a;
    }
  }
};
constexpr int twice(int x) {
  static constexpr int two = 2;
  return two * x;
}
enum class colour : unsigned char { red, green = 7 };
int main() {
  grid g{12};
  int s = 0;
  auto each = [](this auto self, int n) -> int { return n == 0 ? 0 : 1 + self(n - 1); };
#pragma omp parallel for collapse(2) reduction(+ : s)
  for (auto i = 0uz; i < g.n; i++)
    for (auto j = 0uz; j < g.n; j++) {
      g[i, j] = adds()(i, j) + auto(s) * 0;
      s += twice(i) + std::to_underlying(colour::green) + each(j);
      [[assume(s >= 0)]];
    }
  std::printf("%d %g\n", s, g[3, 4]);
}
