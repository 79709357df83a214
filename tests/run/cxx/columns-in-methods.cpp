// Blocks of columns of grids that are members: where their elements lie is read in front of the loops, as the object is
// there whatever the loops do. Behind a pointer that may be null nothing is read.
// opt: -O0 -O2 -O3
// threads: any
#include <cstdio>
#include <memory>
#include <vector>

class Columns {
public:
  explicit Columns(int n) : n(n), u((size_t)n * n), v((size_t)n * n) {}

  void rows() {
#pragma omp parallel for
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        v[i * n + j] = (j > 0 ? 0.25 * v[i * n + j - 1] : 0) + u[i * n + j] + (i * 7 + j) % 5;
  }

  void columns() {
#pragma omp parallel for
    for (int b = 0; b < (n + 15) / 16; b++) {
      int end = b * 16 + 16 < n ? b * 16 + 16 : n;
      for (int i = 0; i < n; i++)
        for (int j = b * 16; j < end; j++)
          u[i * n + j] = (i > 0 ? 0.5 * u[(i - 1) * n + j] : 0) + 0.125 * v[i * n + j];
      for (int i = n - 2; i >= 0; i--)
        for (int j = b * 16; j < end; j++)
          u[i * n + j] += 0.25 * u[(i + 1) * n + j];
    }
  }

  double sum() const {
    double total = 0;
    for (double one : u)
      total = total * 0.999 + one;
    return total;
  }

private:
  int n;
  std::vector<double> u, v;
};

struct Pair {
  double *from, *to;
};

__attribute__((noinline)) void copy(const Pair *pair, int blocks, int n) {
#pragma omp parallel for
  for (int b = 0; b < blocks; b++)
    for (int i = b * 16; i < n; i++)
      pair->to[i] = pair->from[i];
}

int main() {
  Columns here(203);
  auto there = std::make_unique<Columns>(100), none = std::make_unique<Columns>(0);
  for (int step = 0; step < 5; step++)
    for (Columns *one : {&here, there.get(), none.get()}) {
      one->rows();
      one->columns();
    }
  copy(nullptr, 4, 0);
  std::printf("%.12g %.12g %.12g\n", here.sum(), there->sum(), none->sum());
}
