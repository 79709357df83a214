// Diffusion by alternating directions: blocks of rows for the sweeps along rows, blocks of columns for those across
// them. Between them the grid is dealt out anew, packed for each rank; explicit halves need one row, or column, of each
// neighbour.
#include "../mpi_common.h"
#include "lines.hpp"

class Adi {
public:
  explicit Adi(int n)
      : n_(n), rank_(my_rank()), ranks_(all_ranks()), mine_(share_of(n, rank_, ranks_)),
        // One line more on each side. By rows: count + 2 lines of n; by columns: n lines of count + 2.
        rows_((size_t)(mine_.count + 2) * n), columns_((size_t)(mine_.count + 2) * n),
        solved_rows_((size_t)mine_.count * n), solved_columns_((size_t)mine_.count * n),
        out_((size_t)mine_.count * n), in_((size_t)mine_.count * n), counts_(ranks_), starts_(ranks_),
        factors_(n, 0.35) {
    for (int i = 0; i < mine_.count; i++)
      for (int j = 0; j < n; j++)
        rows_[(size_t)(i + 1) * n + j] = initial(mine_.first + i, j);
    for (int other = 0; other < ranks_; other++) {
      struct share theirs = share_of(n, other, ranks_);
      counts_[other] = theirs.count * mine_.count;
      starts_[other] = theirs.first * mine_.count;
    }
  }

  void step() {
    along_rows();
    rows_to_columns();
    along_columns();
    columns_to_rows();
  }

  double checksum() const {
    std::vector<double> sums(mine_.count);
    for (int i = 0; i < mine_.count; i++)
      for (int j = 0; j < n_; j++)
        sums[i] += rows_[(size_t)(i + 1) * n_ + j] * (1 + (mine_.first + i + 3 * j) % 7);
    return sum_in_order(sums.data(), mine_.count);
  }

private:
  int before() const { return rank_ > 0 ? rank_ - 1 : MPI_PROC_NULL; }
  int after() const { return rank_ < ranks_ - 1 ? rank_ + 1 : MPI_PROC_NULL; }

  void along_rows() {
    int n = n_, count = mine_.count;
    double a = factors_.coupling();
    double *u = rows_.data(), *v = solved_rows_.data();
    MPI_Sendrecv(u + n, n, MPI_DOUBLE, before(), 0, u + (size_t)(count + 1) * n, n, MPI_DOUBLE,
                 after(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(u + (size_t)count * n, n, MPI_DOUBLE, after(), 0, u, n, MPI_DOUBLE, before(), 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; i++) {
      const double *above = u + (size_t)i * n, *here = above + n, *below = here + n;
      double *line = v + (size_t)i * n;
      for (int j = 0; j < n; j++) {
        double f = half_step(a, above[j], here[j], below[j]);
        line[j] = (f + (j > 0 ? a * line[j - 1] : 0)) * factors_.scale(j);
      }
      for (int j = n - 2; j >= 0; j--)
        line[j] += factors_.upper(j) * line[j + 1];
    }
  }

  void rows_to_columns() {
    int count = mine_.count, line = count + 2;
    for (int other = 0; other < ranks_; other++) {
      struct share theirs = share_of(n_, other, ranks_);
      double *next = out_.data() + starts_[other];
      for (int i = 0; i < count; i++)
        for (int j = 0; j < theirs.count; j++)
          *next++ = solved_rows_[(size_t)i * n_ + theirs.first + j];
    }
    exchange();
    for (int i = 0; i < n_; i++)
      for (int j = 0; j < count; j++)
        columns_[(size_t)i * line + j + 1] = in_[(size_t)i * count + j];
    std::vector<double> out(n_), in(n_);
    border(1, before(), line - 1, after(), out, in);
    border(count, after(), 0, before(), out, in);
  }

  // Sends one column, and receives another.
  void border(int from, int to_rank, int to, int from_rank, std::vector<double> &out,
              std::vector<double> &in) {
    int line = mine_.count + 2;
    for (int i = 0; i < n_; i++)
      out[i] = columns_[(size_t)i * line + from];
    MPI_Sendrecv(out.data(), n_, MPI_DOUBLE, to_rank, 0, in.data(), n_, MPI_DOUBLE, from_rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n_ && from_rank != MPI_PROC_NULL; i++)
      columns_[(size_t)i * line + to] = in[i];
  }

  void along_columns() {
    int n = n_, count = mine_.count, line = count + 2;
    double a = factors_.coupling();
    const double *v = columns_.data();
    double *u = solved_columns_.data();
    for (int i = 0; i < n; i++)
      for (int j = 0; j < count; j++) {
        const double *here = v + (size_t)i * line + j + 1;
        double f = half_step(a, here[-1], here[0], here[1]);
        u[(size_t)i * count + j] =
            (f + (i > 0 ? a * u[(size_t)(i - 1) * count + j] : 0)) * factors_.scale(i);
      }
    for (int i = n - 2; i >= 0; i--)
      for (int j = 0; j < count; j++)
        u[(size_t)i * count + j] += factors_.upper(i) * u[(size_t)(i + 1) * count + j];
  }

  void columns_to_rows() {
    int count = mine_.count;
    // The rows of another rank lie together already.
    out_.swap(solved_columns_);
    exchange();
    out_.swap(solved_columns_);
    for (int other = 0; other < ranks_; other++) {
      struct share theirs = share_of(n_, other, ranks_);
      const double *next = in_.data() + starts_[other];
      for (int i = 0; i < count; i++)
        for (int j = 0; j < theirs.count; j++)
          rows_[(size_t)(i + 1) * n_ + theirs.first + j] = *next++;
    }
  }

  void exchange() {
    MPI_Alltoallv(out_.data(), counts_.data(), starts_.data(), MPI_DOUBLE, in_.data(),
                  counts_.data(), starts_.data(), MPI_DOUBLE, MPI_COMM_WORLD);
  }

  int n_, rank_, ranks_;
  struct share mine_;
  std::vector<double> rows_, columns_, solved_rows_, solved_columns_, out_, in_;
  std::vector<int> counts_, starts_;
  Factors factors_;
};

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  {
    int n = number(argc, argv, 1, 1500, 2);
    int iterations = number(argc, argv, 2, 20, 1);
    Adi adi(n);
    double start = 0;
    for (int iteration = 0; iteration <= iterations; iteration++) {
      if (iteration == 1)  // the first one warms up
        start = start_clock();
      adi.step();
    }
    double seconds = stop_clock(start), sum = adi.checksum();
    if (my_rank() == 0)
      print_result(seconds, iterations, sum);
  }
  MPI_Finalize();
}
