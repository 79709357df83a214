// A rank that finds a function-local static initialised by another rank sees the object, too: the page
// that holds the guard may be here from before.
// threads: any
#include <cstdio>
#include <vector>

static int constructions;

struct Table {
  std::vector<int> values;
  explicit Table(int length) : values(length, length) {
#pragma omp critical
    constructions++;
  }
};

template <int Length> static std::vector<int> &table() {
  static Table instance(Length);
  return instance.values;
}

int main() {
  long sum = 0;
  for (int round = 0; round < 3; round++) {
#pragma omp parallel for schedule(static, 1) reduction(+ : sum)
    for (int i = 0; i < 200; i++) {
      sum += table<5>()[4] + table<600>()[i] + table<7000>()[6999] + table<80>()[i % 80];
      if (round > 0) sum += table<9>()[8];
    }
  }
  std::printf("%ld %d\n", sum, constructions);
}
