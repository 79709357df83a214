// Concepts, the spaceship, abbreviated templates, designated initialisers of C++20.
// RUN: %S/compile %plugin %s -std=c++20
#include <algorithm>
#include <bit>
#include <compare>
#include <concepts>
#include <cstdio>
#include <numeric>
#include <source_location>
#include <span>
#include <vector>
template <class T>
concept number = std::integral<T> || std::floating_point<T>;
template <class T>
concept container = requires(T t) {
  { t.size() } -> std::convertible_to<std::size_t>;
  typename T::value_type;
  requires number<typename T::value_type>;
};
struct version {
  int major, minor = 0;
  auto operator<=>(const version &) const = default;
};
template <number T> struct grid {
  std::vector<T> cells;
  T &at(std::size_t i) requires(sizeof(T) >= 4) { return cells[i]; }
  T &at(std::size_t i) requires(sizeof(T) < 4) { return cells[i + 0]; }
};
auto sum(container auto const &c) {
  typename std::remove_cvref_t<decltype(c)>::value_type s = 0;
#pragma omp parallel for reduction(+ : s)
  for (std::size_t i = 0; i < c.size(); i++)
    s += c[i];
  return s;
}
template <int N> struct name {
  char text[N];
  constexpr name(const char (&t)[N]) { std::copy_n(t, N, text); }
};
template <name N> struct named {
  static constexpr auto &text = N.text;
};
constinit int started = 7;
consteval int square(int x) { return x * x; }

int main() {
  grid<double> g{.cells = std::vector<double>(50, 2.0)};
  grid<short> h{std::vector<short>(50)};
  std::span<double> view(g.cells);
#pragma omp parallel for
  for (auto &cell : view)
    cell += square(3);
#pragma omp parallel for
  for (std::size_t i = 0; i < h.cells.size(); i++)
    h.at(i) = std::popcount(i) + static_cast<int>(std::bit_cast<long>(g.at(i)) & 1);
  std::printf("%g %d %s %d %u\n", sum(g.cells), version{1, 2} < version{.major = 2}, named<"grid">::text, started,
              std::source_location::current().line());
}
