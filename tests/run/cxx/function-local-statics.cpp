// Function-local statics with constructors, first reached inside a region, are initialised once.
// threads: any
#include <atomic>
#include <cstdio>
#include <string>
#include <vector>

static std::atomic<int> constructions{0};

struct Table {
  std::vector<int> squares;
  std::string name;
  Table() : squares(100), name("a table with a fairly long name") {
    constructions++;
    for (int i = 0; i < 100; i++) squares[i] = i * i;
  }
};

static Table &table() {
  static Table instance;
  return instance;
}

static int seed(int i) {
  static const int base = static_cast<int>(table().name.size());
  return base + i;
}

int main() {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += table().squares[i] + seed(i);
#pragma omp parallel for
  for (int i = 0; i < 100; i++) table().squares[i] += 1;
  for (int square : table().squares) sum += square;
  std::printf("%ld %d %s\n", sum, constructions.load(), table().name.c_str());
}
