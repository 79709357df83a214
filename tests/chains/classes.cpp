// schedules: 0 1 2 3 4 5
// refused: 90
//
// Chains in C++: in a member function on members, in templates of a type and of a number, in a lambda with captures, on vectors and
// on references, with `auto` and `std::size_t` for iteration variables, in a namespace, in a constructor; with objects that have
// operators for their elements; where something may throw.
#include "chain.h"

#include <cstddef>
#include <vector>

#if SCHEDULE == 0
#define PLANES
#define LINES
#elif SCHEDULE == 1
#define PLANES auto
#define LINES auto
#elif SCHEDULE == 2
#define PLANES fuse()
#define LINES fuse()
#elif SCHEDULE == 3
#define PLANES fuse(), tile((4, 4), wavefront, serial)
#define LINES fuse(), tile((8), serial, serial)
#elif SCHEDULE == 4
#define PLANES parallel
#define LINES parallel
#elif SCHEDULE == 5
#define PLANES fuse(), tile((8, 8), parallel, serial, overlap)
#define LINES tile((8), parallel, serial)
#elif SCHEDULE == 90
#define PLANES fuse((0, 0), (0, 0))
#define LINES fuse((0), (0))
#endif

namespace grids {

class plane {
  int n;
  std::vector<double> a, b;

public:
  explicit plane(int n) : n(n), a((n + 2) * (n + 2)), b(a.size()) {
    for (std::size_t at = 0; at < a.size(); at++)
      a[at] = b[at] = noise((long)at);
  }

  void sweep() {
    const int width = n + 2;
    double *a = this->a.data(), *b = this->b.data();
    PRAGMA(omplc loopchain schedule(PLANES))
    {
#pragma omplc for domain(1 : n, 1 : n) with(i, j) write a{(i, j)}, read b{(i - 1, j), (i, j - 1), (i, j + 1), (i + 1, j)}
      for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++)
          a[i * width + j] = 0.25 * (b[(i - 1) * width + j] + b[i * width + j - 1] + b[i * width + j + 1] + b[(i + 1) * width + j]);
#pragma omplc for domain(1 : n, 1 : n) with(i, j) write b{(i, j)}, read a{(i - 1, j), (i, j - 1), (i, j + 1), (i + 1, j)}
      for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++)
          b[i * width + j] = 0.25 * (a[(i - 1) * width + j] + a[i * width + j - 1] + a[i * width + j + 1] + a[(i + 1) * width + j]);
    }
  }

  void print() const {
    print_doubles("a", a.data(), (long)a.size());
    print_doubles("b", b.data(), (long)b.size());
  }
};

// An array with operators for its elements.
template <typename T> class line {
  T *elements;

public:
  explicit line(T *elements) : elements(elements) {}
  T &operator[](std::ptrdiff_t i) { return elements[i]; }
  const T &operator[](std::ptrdiff_t i) const { return elements[i]; }
};

template <typename T, int REACH> void smooth(line<T> &to, const line<T> &from, line<T> &last, int n) {
  PRAGMA(omplc loopchain schedule(LINES))
  {
#pragma omplc for domain(REACH : n - REACH) with(i) write to{(i)}, read from{(i), (i + 1)}
    for (int i = REACH; i <= n - REACH; i++)
      to[i] = (from[i] + from[i + 1]) / 2;
#pragma omplc for domain(REACH : n - REACH) with(i) write last{(i)}, read to{(i), (i + 1)}
    for (int i = REACH; i <= n - REACH; ++i)
      last[i] = to[i] - to[i + 1];
  }
}

} // namespace grids

static void captured(std::vector<double> &a, std::vector<double> &b, double factor) {
  auto run = [&a, &b, factor](std::size_t n) {
    PRAGMA(omplc loopchain schedule(LINES))
    {
#pragma omplc for domain(1 : n) with(i) write a{(i)}, read b{(i - 1), (i)}
      for (std::size_t i = 1; i <= n; i++)
        a[i] = factor * (b[i - 1] + b[i]);
#pragma omplc for domain(1 : n) with(i) write b{(i)}, read a{(i - 1), (i)}
      for (auto i = std::size_t(1); i <= n; i++)
        b[i] = a[i - 1] - a[i];
    }
  };
  for (int t = 0; t < 3; t++)
    run(a.size() - 2);
}

// Something is destroyed behind the chain, whatever happens.
struct counter {
  static int alive;
  counter() { alive++; }
  ~counter() { alive--; }
};
int counter::alive;

static double may_throw(double *a, double *b, int n) {
  counter one;
  if (n < 0)
    throw n;
  PRAGMA(omplc loopchain schedule(LINES))
  {
#pragma omplc for domain(0 : n) with(i) write a{(i)}
    for (int i = 0; i <= n; i++)
      a[i] = i * 0.5;
#pragma omplc for domain(0 : n - 1) with(i) write b{(i)}, read a{(i + 1)}
    for (int i = 0; i <= n - 1; i++)
      b[i] = a[i + 1] + counter::alive;
  }
  return b[n / 2];
}

int main() {
  grids::plane plane(21);
  for (int t = 0; t < 3; t++)
    plane.sweep();
  plane.print();

  std::vector<double> a(60), b(60), c(60);
  std::vector<float> x(60), y(60), z(60);
  for (int i = 0; i < 60; i++) {
    a[i] = noise(i);
    b[i] = noise(i + 100);
    x[i] = (float)noise(i + 200);
    y[i] = z[i] = (float)noise(i + 300);
  }
  grids::line<double> to(a.data()), from(b.data()), last(c.data());
  grids::smooth<double, 1>(to, from, last, 58);
  grids::smooth<double, 3>(last, to, from, 58);
  grids::line<float> to_float(x.data()), from_float(y.data()), last_float(z.data());
  grids::smooth<float, 2>(to_float, from_float, last_float, 58);
  captured(a, b, 0.625);
  print_doubles("a", a.data(), 60);
  print_doubles("b", b.data(), 60);
  print_doubles("c", c.data(), 60);
  print_floats("z", z.data(), 60);
  try {
    printf("%a\n", may_throw(a.data(), b.data(), 50));
    may_throw(a.data(), b.data(), -1);
  } catch (int n) {
    printf("%d %d\n", n, counter::alive);
  }
  return 0;
}
