#include <stdexcept>
constexpr int N = 3000;
extern double written[N];

struct Shape {
  virtual ~Shape() = default;
  virtual double area(double x, int i) const = 0;
};
struct Curve {
  double factor;
  double at(double x) const;
  void change(double by);
};
template <typename T> struct Sum {
  T all = 0;
  void add(T more);
  T mean(int count) const { return all / count; }
};
extern template struct Sum<double>;

double checked(double x);
double checked_noexcept(double x) noexcept;
double logged(double x, int i);
Shape *shape(int which);
template <typename T> T twice(T x) { return x + x; }
inline double common(double x, int i);
double of_common(double x, int i);
inline double common(double x, int i) {
  written[i] += x * 0.125;
  return x;
}
void smooth(double *values, int count);
