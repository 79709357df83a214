// schedules: 0 1 2 3 4 5
// refused: 90
//
// Complex numbers of C++, vectors with operators, and std::array: elements whose numbers functions access one by one.
#include "chain.h"

#include <array>
#include <complex>
#include <vector>

#if SCHEDULE == 0
#define ITEMS
#elif SCHEDULE == 1
#define ITEMS auto
#elif SCHEDULE == 2
#define ITEMS fuse()
#elif SCHEDULE == 3
#define ITEMS fuse(), tile((8), serial, serial)
#elif SCHEDULE == 4
#define ITEMS parallel
#elif SCHEDULE == 5
#define ITEMS fuse(), tile((8), wavefront, serial)
#elif SCHEDULE == 90
#define ITEMS fuse((0), (0), (0))
#endif

struct vector3 {
  double x, y, z;
  vector3 operator+(const vector3 &other) const { return {x + other.x, y + other.y, z + other.z}; }
  vector3 operator*(double by) const { return {x * by, y * by, z * by}; }
  double length() const { return x * x + y * y + z * z; }
};

using number = std::complex<double>;

static void chain(number *__restrict a, number *__restrict b, vector3 *__restrict v, std::array<double, 4> *__restrict w, int n) {
  PRAGMA(omplc loopchain schedule(ITEMS))
  {
#pragma omplc for domain(1 : n - 2) with(i) read a{(i - 1), (i), (i + 1)} write b{(i)}
    for (int i = 1; i < n - 1; i++)
      b[i] = (a[i - 1] + a[i + 1]) * 0.5 - a[i] * number(0, 1);
#pragma omplc for domain(2 : n - 3) with(i) read b{(i - 1), (i), (i + 1)} read v{(i)} write v{(i)}
    for (int i = 2; i < n - 2; i++) {
      v[i] = v[i] * b[i].imag() + vector3{b[i - 1].real(), b[i + 1].imag(), 1};
      v[i].z -= b[i].real();
    }
#pragma omplc for domain(3 : n - 4) with(i) read v{(i - 1), (i), (i + 1)} write w{(i)} read w{(i)} write a{(i)}
    for (int i = 3; i < n - 3; i++) {
      for (int c = 0; c < 3; c++)
        w[i][c] = v[i - 1].x * c + v[i + 1].z;
      w[i][3] = v[i].length();
      a[i] = number(w[i][3], w[i][0]);
    }
  }
}

int main() {
  const int n = 60;
  std::vector<number> a(n), b(n);
  std::vector<vector3> v(n);
  std::vector<std::array<double, 4>> w(n);
  for (int i = 0; i < n; i++) {
    a[i] = number(noise(i), noise(i + 100));
    v[i] = {noise(i + 200), noise(i + 300), noise(i + 400)};
  }
  for (int t = 0; t < 2; t++)
    chain(a.data(), b.data(), v.data(), w.data(), n);
  print_doubles("a", reinterpret_cast<double *>(a.data()), 2 * n);
  print_doubles("b", reinterpret_cast<double *>(b.data()), 2 * n);
  print_doubles("v", &v[0].x, 3 * n);
  print_doubles("w", w[0].data(), 4 * n);
}
