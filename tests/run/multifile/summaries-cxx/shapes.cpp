#include "shapes.hpp"
#include <cmath>

double written[N];
static int thrown;

template <typename T> void Sum<T>::add(T more) { all += more; }
template struct Sum<double>;

double Curve::at(double x) const { return factor * std::sin(x); }
void Curve::change(double by) { factor += by; }

double checked(double x) {
  if (x < 0) {
#pragma omp atomic
    thrown++;
    throw std::runtime_error("negative");
  }
  return std::sqrt(x);
}

double checked_noexcept(double x) noexcept { return x < 0 ? 0 : std::sqrt(x); }

double logged(double x, int i) {
  written[i] = x * 0.5;
  return x;
}

double of_common(double x, int i) { return common(x, i) + twice(i); }

namespace {
struct Square : Shape {
  double area(double x, int) const override { return x * 0.25; }
};
struct Logged : Shape {
  double area(double x, int i) const override {
    written[i] += x * 0.125;
    return x * 0.125;
  }
};
} // namespace

Shape *shape(int which) {
  static Square square;
  static Logged logged;
  if (which == 0)
    return &square;
  return &logged;
}

void smooth(double *values, int count) {
  if (count < 0)
    throw 1;
#pragma omp for
  for (int i = 1; i < count / 2; i++)
    values[2 * i] = 0.5 * (values[2 * i - 1] + checked_noexcept(values[2 * i]));
}
