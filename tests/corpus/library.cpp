// Containers, algorithms, ranges, smart pointers and streams of the C++ library in regions.
// RUN: %S/compile %plugin %s -std=c++20
#include <algorithm>
#include <cmath>
#include <deque>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <ranges>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <valarray>
#include <variant>
#include <vector>
using namespace std::literals;
int main() {
  std::vector<bool> bits(100);
  std::deque<double> queue(64, 1.5);
  std::valarray<double> values(64);
  std::map<std::string, std::vector<int>> groups;
  std::unordered_map<int, std::unique_ptr<int>> owned;
  int s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < 64; i++) {
    std::mt19937 random(i);
    std::uniform_real_distribution<double> from(0, 1);
    queue[i] += from(random);
    values[i] = std::sqrt(queue[i]);
    std::list<int> l{3, 1, 2};
    l.sort();
    std::set<std::string_view> names{"a"sv, "b"sv};
    auto even = std::views::iota(0, i) | std::views::filter([](int x) { return x % 2 == 0; }) |
                std::views::transform([](int x) { return x * x; });
    s += std::accumulate(even.begin(), even.end(), 0) + l.front() + int(names.size());
    std::variant<int, double, std::string> v = i % 2 ? std::variant<int, double, std::string>(i) : "text"s;
    s += std::visit([](auto &one) -> int { return sizeof one; }, v);
    std::optional<int> maybe = i > 3 ? std::optional(i) : std::nullopt;
    std::ostringstream out;
    out << maybe.value_or(0) << ' ' << i * 0.5;
    auto shared = std::make_shared<std::vector<int>>(3, i);
    std::weak_ptr<std::vector<int>> weak = shared;
#pragma omp critical
    {
      bits[i] = true;
      groups[out.str()].push_back(i);
      owned.emplace(i, std::make_unique<int>(weak.lock()->at(1)));
    }
  }
  auto [least, most] = std::ranges::minmax_element(queue);
#pragma omp parallel for
  for (auto it = queue.begin(); it < queue.end(); ++it)
    *it = 0;
  std::cout << s << ' ' << groups.size() << ' ' << owned.size() << ' ' << (*least <= *most) << '\n';
}
