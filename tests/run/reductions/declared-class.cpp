// User-declared reductions of C++ classes that own memory: vectors, maps, strings.
// threads: any
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#pragma omp declare reduction(append : std::vector<int> : omp_out.insert(                          \
        omp_out.end(), omp_in.begin(), omp_in.end()))

static void merge_into(std::map<int, long> &out, const std::map<int, long> &in) {
  for (const auto &entry : in) out[entry.first] += entry.second;
}
#pragma omp declare reduction(merge : std::map<int, long> : merge_into(omp_out, omp_in))

template <typename T> struct Matrix {
  std::vector<T> cells;
  explicit Matrix(int n) : cells(n) {}
  Matrix &operator+=(const Matrix &other) {
    for (std::size_t i = 0; i < cells.size(); i++) cells[i] += other.cells[i];
    return *this;
  }
};
#pragma omp declare reduction(+ : Matrix<long> : omp_out += omp_in)                                \
    initializer(omp_priv = Matrix<long>(static_cast<int>(omp_orig.cells.size())))

int main() {
  std::vector<int> found{1000};
  std::map<int, long> counts;
  Matrix<long> sums(50);
  sums.cells[3] = 7;
#pragma omp parallel for reduction(append : found) reduction(merge : counts) reduction(+ : sums)
  for (int i = 0; i < 500; i++) {
    if (i % 7 == 0) found.push_back(i);
    counts[i % 11] += i;
    sums.cells[i % 50] += i;
  }
  std::sort(found.begin(), found.end());
  long check = 0;
  for (std::size_t i = 0; i < found.size(); i++) check += static_cast<long>(i) * found[i];
  std::printf("%zu %ld\n", found.size(), check);
  for (auto &[key, count] : counts) std::printf("%d:%ld ", key, count);
  for (long cell : sums.cells) std::printf("%ld ", cell);
  std::string digits;
#pragma omp declare reduction(longest : std::string : omp_out =                                    \
                                  omp_in.size() > omp_out.size() ? omp_in : omp_out)
#pragma omp parallel for reduction(longest : digits)
  for (int i = 0; i < 60; i++) {
    std::string own(static_cast<std::size_t>(i * 37 % 61), 'x');
    if (own.size() > digits.size()) digits = own;
  }
  std::printf("\n%zu\n", digits.size());
}
