// Templates: variadic, specialised, of templates, with deduced arguments, instantiated elsewhere.
// RUN: %S/compile %plugin %s -std=c++17
#include <array>
#include <tuple>
#include <utility>
#include <vector>
template <class T, int N> struct fixed {
  T data[N]{};
  template <class F> void each(F &&f) {
#pragma omp parallel for
    for (int i = 0; i < N; i++)
      data[i] = f(i);
  }
  static inline int made = 0;
};
template <class T> fixed(T, T) -> fixed<T, 2>;
template <template <class...> class C, class... A> auto total(const C<A...> &all) {
  return std::apply([](auto... one) { return (one + ... + 0); }, all);
}
template <int N> struct factorial {
  static constexpr long value = N * factorial<N - 1>::value;
};
template <> struct factorial<0> {
  static constexpr long value = 1;
};
template <auto V> constexpr auto constant = V;
template <class T> T shared_by_all = T(3);
template <class T> __attribute__((noinline)) void orphan(std::vector<T> &v) {
  const int n = v.size();
#pragma omp for
  for (int i = 0; i < n; i++)
    v[i] += T(factorial<5>::value) + shared_by_all<T>;
}
template <class T, class U = T> struct chain : chain<U *, int> {};
template <class U> struct chain<U, int> {
  virtual ~chain() = default;
  virtual U get() { return U(); }
};
template struct fixed<float, 7>;
template void orphan(std::vector<short> &);
template <class... F> struct overload : F... {
  using F::operator()...;
};
template <class... F> overload(F...) -> overload<F...>;
template <std::size_t... I> int indices(std::index_sequence<I...>) { return (I + ...); }

int main() {
  fixed<double, 40> d;
  d.each([](auto i) { return i * 2.0; });
  fixed<float, 7> f;
  f.each([](int i) { return i; });
  std::vector<double> v(100);
  std::vector<int> w(100);
  int s = 0;
#pragma omp parallel reduction(+ : s)
  {
    orphan(v);
    orphan(w);
    overload o{[](int x) { return x; }, [](double x) { return int(x) * 2; }};
    s += o(1) + o(2.5) + total(std::make_tuple(1, 2.0, 3.f)) + indices(std::make_index_sequence<9>());
    s += constant<'a'> + (chain<int>().get() == 0);
  }
  return s > 0 && d.data[3] == 6 ? 0 : 1;
}
