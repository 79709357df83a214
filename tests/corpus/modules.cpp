// A module's interface, with templates in it.
// RUN: %S/compile %plugin %s -std=c++20 -x c++-module
module;
#include <cstddef>
export module numerics;
export namespace numerics {
template <class T> T sum(const T *a, std::size_t n) {
  T s{};
#pragma omp parallel for reduction(+ : s)
  for (std::size_t i = 0; i < n; i++)
    s += a[i];
  return s;
}
inline double scale = 2;
void scaled(double *a, std::size_t n) {
#pragma omp parallel for
  for (std::size_t i = 0; i < n; i++)
    a[i] *= scale;
}
}
static int hidden = 3;
export template <class T> struct vector {
  T *data;
  std::size_t n;
  T total() const { return numerics::sum(data, n); }
};
template struct vector<double>;
export int visible() { return hidden; }
