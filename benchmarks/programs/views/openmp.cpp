// Shallow water in a basin, all of whose fields are seen through view objects: pointer, extents and strides.
#include <omp.h>

#include <memory>
#include <utility>
#include <vector>

#include "view.hpp"

static const double courant = 0.1;

// One piece of memory for all fields, with a rim of one cell, which stays as it is.
class Basin {
public:
  explicit Basin(int n) : cells_((size_t)6 * (n + 2) * (n + 2)) {
    size_t field = (size_t)(n + 2) * (n + 2);
    View<double> *all[] = {&now_.height,  &now_.across,  &now_.along,
                           &next_.height, &next_.across, &next_.along};
    for (int f = 0; f < 6; f++)
      *all[f] = View<double>(cells_.data() + f * field, n + 2, n + 2, n + 2);
#pragma omp parallel for
    for (int i = 0; i < n + 2; i++)
      for (int j = 0; j < n + 2; j++) {
        now_.height(i, j) = next_.height(i, j) = first_height(n, i, j);
        now_.across(i, j) = next_.across(i, j) = 0;
        now_.along(i, j) = next_.along(i, j) = 0;
      }
  }

  void step() {
    const Water from = now_, to = next_;
#pragma omp parallel for
    for (int i = 1; i < from.height.rows() - 1; i++)
      for (int j = 1; j < from.height.columns() - 1; j++)
        advance(from, to, i, j, courant);
    std::swap(now_, next_);
  }

  double checksum() const {
    int n = now_.height.rows() - 2;
    std::vector<double> sums(n);
    View<double> of_rows(sums.data(), n, 1, 1);
    const Water inner = {now_.height.part(1, 1, n, n), now_.across.part(1, 1, n, n),
                         now_.along.part(1, 1, n, n)};
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
      double sum = 0;
      for (int j = 0; j < n; j++)
        sum += weighed(inner, i, j) * (1 + (i + 3 * j) % 7);
      of_rows(i, 0) = sum;
    }
    double sum = 0;
    for (double of_row : sums)
      sum += of_row;
    return sum;
  }

private:
  std::vector<double> cells_;
  Water now_, next_;
};

int main(int argc, char **argv) {
  int n = number(argc, argv, 1, 1000, 2);
  int iterations = number(argc, argv, 2, 50, 1);
  auto basin = std::make_unique<Basin>(n);
  double start = 0;
  for (int iteration = 0; iteration <= iterations; iteration++) {
    if (iteration == 1)  // the first one warms up
      start = omp_get_wtime();
    basin->step();
  }
  double seconds = omp_get_wtime() - start;
  print_result(seconds, iterations, basin->checksum());
}
