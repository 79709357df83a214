// Structured bindings in regions, if constexpr, fold expressions, reductions of the program's own classes.
// RUN: %S/compile %plugin %s -std=c++20
#include <array>
#include <cstdio>
#include <string>
#include <tuple>
#include <type_traits>
struct sum {
  double value = 0;
  sum() = default;
  sum(const sum &o) : value(o.value) {}
  sum &operator+=(const sum &o) {
    value += o.value;
    return *this;
  }
  ~sum() {}
};
#pragma omp declare reduction(plus : sum : omp_out += omp_in) initializer(omp_priv = sum())
#pragma omp declare reduction(join : std::string : omp_out += omp_in)
struct matrix {
  double a[3][3];
  double &operator()(int i, int j) { return a[i][j]; }
};
template <class T> static auto describe(T x) {
  if constexpr (std::is_integral_v<T>)
    return x + 1;
  else
    return std::tuple{x, 2, "three"};
}
union either {
  int i;
  std::string s;
  either() : i(0) {}
  ~either() {}
};
int main() {
  auto [a, b, c] = describe(2.5);
  auto &&[array, other] = std::pair{std::array{1, 2, 3}, matrix{}};
  auto &first = array;
  auto &second = other;
  int number = b;
  sum total;
  std::string text;
  double here = a;
#pragma omp parallel for reduction(plus : total) reduction(join : text) firstprivate(here) shared(first, second)
  for (int i = 0; i < 9; i++) {
    second(i / 3, i % 3) = first[i % 3] * here + number + i;
    const auto [x, y] = std::tuple{i, second(0, 0)};
    total.value += x;
    either e;
    if (describe(x); x > 3)
      e.i = x;
    text += "x";
    auto both = [x, y]() { return x + y; };
    here = both();
  }
  std::printf("%g %zu %g\n", total.value + c[0], text.size(), second(2, 2));
}
