// A C++ shared library with static objects, virtual calls and exceptions across its border.
// threads: any
#include "part/plugin.h"
#include <cstdio>
#include <memory>
#include <vector>

struct Local : Filter {
  double apply(double x) const override { return x + 1; }
};

int main() {
  std::vector<std::unique_ptr<Filter>> filters;
  for (int i = 0; i < 6; i++)
    filters.push_back(i % 2 ? std::make_unique<Local>() : make_filter(i));
  std::vector<double> values(120, 1.0);
  int failures = 0;
#pragma omp parallel for reduction(+ : failures)
  for (int i = 0; i < 120; i++) {
    try {
      values[i] = filters[i % 6]->apply(values[i] + i);
    } catch (const std::exception &error) {
      failures += error.what()[0] == 'l';
    }
  }
  double sum = total(values);
  for (double value : values) sum += value;
  std::printf("%.2f %d %s\n", sum, failures, description().c_str());
}
