// ranks: 1 2 3 4
// opt: -O0 -O2
// compare: exact
//
// Jacobi's method for -laplace(u) = f on the unit square, u = 0 on its border.
// With f chosen so that sin(pi x) sin(pi y) solves the discrete equations, and
// starting from zero, sweep k leaves exactly (1 - cos(pi h)^k) of the solution.
// One region spans all sweeps; the two grids change roles after each.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

const double pi = std::acos(-1.0);

class Grid {
public:
  explicit Grid(int intervals) : side_(intervals + 1), values_(side_ * side_) {}

  double &operator()(int i, int j) { return values_[i * side_ + j]; }
  double operator()(int i, int j) const { return values_[i * side_ + j]; }

private:
  int side_;
  std::vector<double> values_;
};

}  // namespace

int main() {
  const int n = 200, sweeps = 300;
  const double h = 1.0 / n;
  Grid first(n), second(n), solution(n), source(n);

#pragma omp parallel for collapse(2) schedule(dynamic, 64)
  for (int i = 1; i < n; i++)
    for (int j = 1; j < n; j++) {
      solution(i, j) = std::sin(pi * i * h) * std::sin(pi * j * h);
      source(i, j) = 4 * (1 - std::cos(pi * h)) * solution(i, j);  // h^2 f
    }

  Grid *now = &first, *next = &second;
  double largest = 0;
#pragma omp parallel
  for (int sweep = 0; sweep < sweeps; sweep++) {
#pragma omp for
    for (int i = 1; i < n; i++)
      for (int j = 1; j < n; j++)
        (*next)(i, j) = 0.25 * ((*now)(i - 1, j) + (*now)(i + 1, j) + (*now)(i, j - 1) +
                                (*now)(i, j + 1) + source(i, j));
#pragma omp single
    std::swap(now, next);
  }

  const double reached = 1 - std::pow(std::cos(pi * h), sweeps);
#pragma omp parallel for reduction(max : largest)
  for (int i = 1; i < n; i++)
    for (int j = 1; j < n; j++)
      largest = std::max(largest, std::abs((*now)(i, j) - reached * solution(i, j)));

  double sum = 0;
  for (int i = 0; i <= n; i++)
    for (int j = 0; j <= n; j++)
      sum += (*now)(i, j) * (i + 2 * j);
  std::printf("Jacobi: %d sweeps, centre %.17g, weighted sum %.17g\n", sweeps, (*now)(n / 2, n / 2),
              sum);
  std::printf("largest deviation from the analytic value %.3e\n", largest);
  const bool right = largest < 1e-13;
  std::printf("verification %s\n", right ? "successful" : "failed");
  return !right;
}
