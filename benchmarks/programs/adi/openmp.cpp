// Diffusion by alternating directions: implicit along rows and explicit across them, then the other way round.
#include <omp.h>

#include <utility>

#include "lines.hpp"

class Grid {
public:
  explicit Grid(int n) : n_(n), cells_((size_t)n * n) {}
  double &operator()(int i, int j) { return cells_[(size_t)i * n_ + j]; }
  double operator()(int i, int j) const { return cells_[(size_t)i * n_ + j]; }
  int size() const { return n_; }

private:
  int n_;
  std::vector<double> cells_;
};

class Adi {
public:
  explicit Adi(int n) : u_(n), v_(n), factors_(n, 0.35) {
#pragma omp parallel for
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        u_(i, j) = initial(i, j);
        v_(i, j) = 0;
      }
  }

  void step() {
    along_rows();
    along_columns();
  }

  double checksum() const {
    int n = u_.size();
    std::vector<double> sums(n);
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
      double sum = 0;
      for (int j = 0; j < n; j++)
        sum += u_(i, j) * (1 + (i + 3 * j) % 7);
      sums[i] = sum;
    }
    double sum = 0;
    for (double of_row : sums)
      sum += of_row;
    return sum;
  }

private:
  // v from u: explicit across rows, implicit along them. Outside of the grid all is 0.
  void along_rows() {
    int n = u_.size();
    double a = factors_.coupling();
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        double above = i > 0 ? u_(i - 1, j) : 0, below = i < n - 1 ? u_(i + 1, j) : 0;
        double f = half_step(a, above, u_(i, j), below);
        v_(i, j) = (f + (j > 0 ? a * v_(i, j - 1) : 0)) * factors_.scale(j);
      }
      for (int j = n - 2; j >= 0; j--)
        v_(i, j) += factors_.upper(j) * v_(i, j + 1);
    }
  }

  // u from v: explicit along rows, implicit across them, block of columns by block of columns.
  void along_columns() {
    const int block = 16;
    int n = u_.size(), blocks = (n + block - 1) / block;
    double a = factors_.coupling();
#pragma omp parallel for
    for (int b = 0; b < blocks; b++) {
      int first = b * block, end = first + block < n ? first + block : n;
      for (int i = 0; i < n; i++)
        for (int j = first; j < end; j++) {
          double left = j > 0 ? v_(i, j - 1) : 0, right = j < n - 1 ? v_(i, j + 1) : 0;
          double f = half_step(a, left, v_(i, j), right);
          u_(i, j) = (f + (i > 0 ? a * u_(i - 1, j) : 0)) * factors_.scale(i);
        }
      for (int i = n - 2; i >= 0; i--)
        for (int j = first; j < end; j++)
          u_(i, j) += factors_.upper(i) * u_(i + 1, j);
    }
  }

  Grid u_, v_;
  Factors factors_;
};

int main(int argc, char **argv) {
  int n = number(argc, argv, 1, 1500, 2);
  int iterations = number(argc, argv, 2, 20, 1);
  Adi adi(n);
  double start = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = omp_get_wtime();
    adi.step();
  }
  double seconds = omp_get_wtime() - start;
  print_result(seconds, iterations, adi.checksum());
}
