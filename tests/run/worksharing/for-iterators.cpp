// Worksharing loops over random access iterators and range-based for.
// threads: any
#include <array>
#include <cstdio>
#include <vector>

int main() {
  std::vector<int> values(200);
  int n = 0;
  for (int &value : values) value = n++;
#pragma omp parallel for
  for (auto it = values.begin(); it < values.end(); ++it) *it *= 2;
#pragma omp parallel for
  for (int &value : values) value += 1;
  long sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(static, 3)
  for (auto it = values.cbegin(); it != values.cend(); it += 1) sum += *it;
  std::array<std::vector<int>, 10> rows;
#pragma omp parallel for
  for (auto &row : rows) row.assign(5, static_cast<int>(&row - rows.data()));
  for (const auto &row : rows)
    for (int value : row) sum += value;
  std::printf("%ld\n", sum);
}
