// Lambdas: generic, mutable, captured, stored, recursive, as bodies of regions.
// RUN: %S/compile %plugin %s -std=c++20
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>
struct solver {
  std::vector<double> x;
  double scale = 2;
  std::function<double(int)> source;
  void step() {
    auto body = [this, n = int(x.size())]<class T>(T by) mutable {
#pragma omp parallel for firstprivate(by)
      for (int i = 0; i < n; i++)
        x[i] = scale * by + source(i);
    };
    body(3);
    body(0.5);
  }
  auto reader() const {
    return [*this](int i) { return x[i]; };
  }
};
template <class F> static void parallel_for(int n, F f) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    f(i);
}
int main() {
  solver s{.x = std::vector<double>(40), .source = [k = std::make_shared<int>(4)](int i) { return i + *k; }};
  s.step();
  std::vector<int> order(40);
  parallel_for(40, [&](int i) { order[i] = 40 - i; });
  parallel_for(40, [&order, all = s.reader()](auto i) { order[i] += all(i) > 3; });
  auto fib = [](auto self, int n) -> int { return n < 2 ? n : self(self, n - 1) + self(self, n - 2); };
  int total = 0;
  int (*plain)(int) = [](int x) { return x + 1; };
  std::map<std::string, std::function<int(int)>> calls{{"a", plain}, {"b", [&](int x) { return fib(fib, x); }}};
#pragma omp parallel for reduction(+ : total)
  for (int i = 0; i < 10; i++)
    total += calls.at(i % 2 ? "a" : "b")(i) + [](auto... x) { return (x + ...); }(1, 2, i);
  std::sort(order.begin(), order.end(), [](auto a, auto b) { return a > b; });
  std::printf("%d %d %d\n", total, order[0], std::bind(plain, std::placeholders::_1)(3));
}
