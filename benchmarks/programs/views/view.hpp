// Rectangles of numbers that somebody else owns: a pointer, extents and strides.
#ifndef VIEW_HPP
#define VIEW_HPP

#include "../common.h"

template <class T> class View {
public:
  View() = default;
  View(T *first, int rows, int columns, int row_stride, int column_stride = 1)
      : first_(first), rows_(rows), columns_(columns), row_stride_(row_stride),
        column_stride_(column_stride) {}
  T &operator()(int i, int j) const {
    return first_[(size_t)i * row_stride_ + (size_t)j * column_stride_];
  }
  int rows() const { return rows_; }
  int columns() const { return columns_; }
  // The part that begins at (i, j).
  View part(int i, int j, int rows, int columns) const {
    return View(&(*this)(i, j), rows, columns, row_stride_, column_stride_);
  }

private:
  T *first_ = nullptr;
  int rows_ = 0, columns_ = 0, row_stride_ = 0, column_stride_ = 0;
};

// The fields of shallow water: its height, and its momentum in two directions.
struct Water {
  View<double> height, across, along;
};

// One point of a Lax-Friedrichs step.
inline void advance(const Water &from, const Water &to, int i, int j, double courant) {
  auto mean = [&](const View<double> &f) {
    return 0.25 * (f(i - 1, j) + f(i + 1, j) + f(i, j - 1) + f(i, j + 1));
  };
  // What flows of momentum `p` with speed p / h, and presses, through lines in its own direction.
  auto pressed = [](double p, double h) { return p * p / h + 0.5 * h * h; };
  auto turned = [](double p, double q, double h) { return p * q / h; };
  const auto &h = from.height, &u = from.across, &v = from.along;
  to.height(i, j) =
      mean(h) - courant * (u(i + 1, j) - u(i - 1, j) + v(i, j + 1) - v(i, j - 1));
  to.across(i, j) =
      mean(u) - courant * (pressed(u(i + 1, j), h(i + 1, j)) - pressed(u(i - 1, j), h(i - 1, j)) +
                           turned(u(i, j + 1), v(i, j + 1), h(i, j + 1)) -
                           turned(u(i, j - 1), v(i, j - 1), h(i, j - 1)));
  to.along(i, j) =
      mean(v) - courant * (pressed(v(i, j + 1), h(i, j + 1)) - pressed(v(i, j - 1), h(i, j - 1)) +
                           turned(u(i + 1, j), v(i + 1, j), h(i + 1, j)) -
                           turned(u(i - 1, j), v(i - 1, j), h(i - 1, j)));
}

inline double first_height(int n, int i, int j) {
  return 1 + (i > n / 4 && i < n / 2 && j > n / 3 && j < 2 * n / 3 ? 0.25 : 0) + (i + j) % 5 / 500.0;
}

// What the checksum takes from a point.
inline double weighed(const Water &water, int i, int j) {
  return water.height(i, j) + 2 * water.across(i, j) + 3 * water.along(i, j);
}

#endif
