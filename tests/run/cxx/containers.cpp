// Standard containers filled serially, read and changed in place in regions.
// threads: any
#include <array>
#include <cstdio>
#include <deque>
#include <list>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

int main() {
  std::vector<std::vector<double>> grid(30, std::vector<double>(20, 1.0));
  std::map<std::string, int> ages;
  std::unordered_map<int, std::string> names;
  std::set<int> numbers;
  std::deque<long> queue;
  std::list<int> list;
  std::array<double, 64> totals{};
  for (int i = 0; i < 200; i++) {
    std::string name = "person number " + std::to_string(i);
    ages[name] = i;
    names[i] = name;
    numbers.insert(i * 7 % 401);
    queue.push_front(i);
    list.push_back(i);
  }
  long found = 0;
#pragma omp parallel
  {
#pragma omp for reduction(+ : found)
    for (int i = 0; i < 200; i++) {
      auto it = ages.find(names.at(i));
      if (it != ages.end()) found += it->second;
      found += static_cast<long>(numbers.count(i)) * 1000 + queue[i];
      it->second *= 2;
    }
#pragma omp for
    for (int r = 0; r < 30; r++)
      for (double &cell : grid[r]) cell += r;
#pragma omp for
    for (int k = 0; k < 64; k++) {
      for (int value : list) totals[k] += value * k;
      for (const auto &[name, age] : ages) totals[k] += age % (k + 1);
    }
  }
  double sum = 0;
  for (auto &row : grid)
    for (double cell : row) sum += cell;
  for (double total : totals) sum += total;
  std::printf("%ld %.1f %d\n", found, sum, ages["person number 150"]);
}
