// Shallow water in a basin: blocks of rows. The border rows of the three fields, which lie line by line one after the
// other, go in one message to each neighbour, while the inner rows are computed.
#include <utility>
#include <vector>

#include "../mpi_common.h"
#include "view.hpp"

static const double courant = 0.1;

class Basin {
public:
  explicit Basin(int n)
      : n_(n), line_(3 * (n + 2)), mine_(share_of(n, my_rank(), all_ranks())),
        now_cells_((size_t)(mine_.count + 2) * line_), next_cells_(now_cells_.size()),
        now_(fields(now_cells_)), next_(fields(next_cells_)) {
    for (int i = 0; i < mine_.count + 2; i++)
      for (int j = 0; j < n + 2; j++)
        now_.height(i, j) = next_.height(i, j) = first_height(n, mine_.first + i, j);
  }

  void step() {
    int rank = my_rank(), rows = mine_.count;
    int up = rank > 0 ? rank - 1 : MPI_PROC_NULL,
        down = rank < all_ranks() - 1 ? rank + 1 : MPI_PROC_NULL;
    double *cells = now_cells_.data();
    MPI_Request requests[4];
    MPI_Irecv(cells, line_, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(cells + (size_t)(rows + 1) * line_, line_, MPI_DOUBLE, down, 0, MPI_COMM_WORLD,
              &requests[1]);
    MPI_Isend(cells + line_, line_, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(cells + (size_t)rows * line_, line_, MPI_DOUBLE, down, 0, MPI_COMM_WORLD,
              &requests[3]);
    advance_rows(2, rows - 1);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    advance_rows(1, 1);
    if (rows > 1)
      advance_rows(rows, rows);
    now_cells_.swap(next_cells_);
    std::swap(now_, next_);
  }

  double checksum() const {
    std::vector<double> sums(mine_.count);
    for (int i = 0; i < mine_.count; i++)
      for (int j = 0; j < n_; j++)
        sums[i] += weighed(now_, i + 1, j + 1) * (1 + (mine_.first + i + 3 * j) % 7);
    return sum_in_order(sums.data(), mine_.count);
  }

private:
  Water fields(std::vector<double> &cells) const {
    auto field = [&](int which) {
      return View<double>(cells.data() + which * (n_ + 2), mine_.count + 2, n_ + 2, line_);
    };
    return {field(0), field(1), field(2)};
  }

  void advance_rows(int first, int last) {
    const Water from = now_, to = next_;
    for (int i = first; i <= last; i++)
      for (int j = 1; j <= n_; j++)
        advance(from, to, i, j, courant);
  }

  int n_, line_;
  struct share mine_;
  std::vector<double> now_cells_, next_cells_;
  Water now_, next_;
};

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  {
    int n = number(argc, argv, 1, 1000, 2);
    int iterations = number(argc, argv, 2, 50, 1);
    Basin basin(n);
    double start = 0;
    for (int iteration = 0; iteration <= iterations; iteration++) {
      if (iteration == 1)  // the first one warms up
        start = start_clock();
      basin.step();
    }
    double seconds = stop_clock(start), sum = basin.checksum();
    if (my_rank() == 0)
      print_result(seconds, iterations, sum);
  }
  MPI_Finalize();
}
