// Quicksort with tasks on a std::vector.
// threads: any
#include <cstdio>
#include <utility>
#include <vector>

static void sort(std::vector<long> &v, long low, long high) {
  if (low >= high) return;
  long pivot = v[(low + high) / 2], i = low, j = high;
  while (i <= j) {
    while (v[i] < pivot) i++;
    while (v[j] > pivot) j--;
    if (i <= j) std::swap(v[i++], v[j--]);
  }
#pragma omp task shared(v) final(j - low < 100)
  sort(v, low, j);
#pragma omp task shared(v) final(high - i < 100)
  sort(v, i, high);
}

int main() {
  std::vector<long> v(4000);
  for (std::size_t i = 0; i < v.size(); i++) v[i] = static_cast<long>(i * 48271 % 65537);
#pragma omp parallel
  {
#pragma omp single nowait
    sort(v, 0, static_cast<long>(v.size()) - 1);
  }
  bool sorted = true;
  for (std::size_t i = 1; i < v.size(); i++) sorted = sorted && v[i - 1] <= v[i];
  std::printf("%d %ld %ld\n", sorted, v[1], v[3999]);
}
