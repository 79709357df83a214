// Lambdas, std::function and member functions with regions inside, capturing by reference.
// threads: any
#include <algorithm>
#include <cstdio>
#include <functional>
#include <numeric>
#include <vector>

class Solver {
  std::vector<double> x;
  double factor = 0.5;

public:
  explicit Solver(int n) : x(static_cast<std::size_t>(n)) { std::iota(x.begin(), x.end(), 0.0); }
  void step() {
#pragma omp parallel for
    for (std::size_t i = 0; i < x.size(); i++) x[i] = x[i] * factor + 1;
    factor += 0.125;
  }
  template <typename F> void apply(F &&f) {
#pragma omp parallel for
    for (std::size_t i = 0; i < x.size(); i++) x[i] = f(x[i], i);
  }
  double sum() const {
    double total = 0;
#pragma omp parallel for reduction(+ : total)
    for (std::size_t i = 0; i < x.size(); i++) total += x[i];
    return total;
  }
};

int main() {
  Solver solver(256);
  double shift = 2;
  solver.step();
  solver.apply([&shift](double v, std::size_t i) { return v + shift * (i % 2); });
  shift = 3;
  solver.step();
  std::function<double(double, std::size_t)> f = [shift](double v, std::size_t) { return v - shift; };
  solver.apply(f);
  std::vector<int> order(100);
  auto fill = [&] {
#pragma omp parallel for
    for (int i = 0; i < 100; i++) order[i] = 99 - i;
  };
  fill();
  std::sort(order.begin(), order.end(), [&](int a, int b) { return a % 10 < b % 10 || (a % 10 == b % 10 && a < b); });
  std::printf("%.10g %d %d\n", solver.sum(), order[1], order[99]);
}
