// Exceptions through serial frames around regions, with objects whose destructors open regions.
// threads: any
#include <cstdio>
#include <new>
#include <stdexcept>

static double data[200];

struct Sweeper {
  double value;
  explicit Sweeper(double v) : value(v) {}
  ~Sweeper() {
#pragma omp parallel for
    for (int i = 0; i < 200; i++) data[i] += value;
  }
};

static void work(int depth) {
  Sweeper sweeper(depth);
  if (depth == 3) throw std::logic_error("deep");
  work(depth + 1);
}

int main() {
  try {
    work(0);
  } catch (const std::logic_error &error) {
    std::printf("%s\n", error.what());
  }
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 200; i++) sum += data[i];
  std::printf("%.1f\n", sum);
}
