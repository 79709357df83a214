// The same program at every optimisation level, with debug information.
// opt: -O1 -O3 -Os -Og
// flags: -g
// ranks: 1 3
// threads: any
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

struct Model {
  std::vector<double> cells = std::vector<double>(300, 1.0);
  std::map<std::string, double> totals;
  void step(double factor) {
#pragma omp parallel
    {
#pragma omp for
      for (std::size_t i = 1; i < cells.size(); i += 2) cells[i] += factor * cells[i - 1];
#pragma omp for schedule(dynamic, 7)
      for (std::size_t i = 2; i < cells.size(); i += 2) cells[i] -= cells[i - 1] / 2;
#pragma omp single
      totals["step " + std::to_string(totals.size())] = cells[7];
    }
  }
};

int main() {
  Model model;
  for (int i = 0; i < 6; i++) model.step(0.25 * i);
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (std::size_t i = 0; i < model.cells.size(); i++) sum += static_cast<int>(model.cells[i] * 64);
  for (auto &[name, value] : model.totals) std::printf("%s %.6f\n", name.c_str(), value);
  std::printf("%.0f\n", sum);
}
