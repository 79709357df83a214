// Standard algorithms on parts of shared arrays in a region; optional, variant, complex, random.
// threads: any
#include <algorithm>
#include <complex>
#include <cstdio>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <valarray>
#include <variant>
#include <vector>

int main() {
  std::vector<int> data(2000);
  std::vector<std::complex<double>> waves(100);
  std::vector<std::variant<int, std::string>> mixed(60);
  std::vector<std::optional<double>> maybe(60);
  std::valarray<double> field(0.5, 60);
  std::mt19937 random(5);
  for (int &value : data) value = static_cast<int>(random() % 10000);
  long drawn = 0;
#pragma omp parallel
  {
#pragma omp for nowait
    for (int part = 0; part < 8; part++)
      std::sort(data.begin() + part * 250, data.begin() + (part + 1) * 250);
#pragma omp for nowait
    for (int i = 0; i < 100; i++) waves[i] = std::polar(1.0, 0.0) * std::complex<double>(i, -i);
#pragma omp for nowait
    for (int i = 0; i < 60; i++) {
      if (i % 2)
        mixed[i] = "variant number " + std::to_string(i);
      else
        mixed[i] = i;
      if (i % 3) maybe[i] = i * 0.5;
      field[i] *= i;
    }
#pragma omp for reduction(+ : drawn)
    for (int i = 0; i < 20; i++) {
      std::minstd_rand own(static_cast<unsigned>(i + 1));
      for (int k = 0; k < 10; k++) drawn += static_cast<long>(own() % 100);
    }
  }
  for (int width = 250; width < 2000; width *= 2)
    for (int from = 0; from + width < 2000; from += 2 * width)
      std::inplace_merge(data.begin() + from, data.begin() + from + width,
                         data.begin() + std::min(from + 2 * width, 2000));
  double sum = field.sum();
  for (auto &m : mixed)
    sum += m.index() ? static_cast<double>(std::get<std::string>(m).size()) : std::get<int>(m);
  for (auto &m : maybe) sum += m.value_or(-1);
  sum += std::accumulate(waves.begin(), waves.end(), std::complex<double>{}).imag();
  std::printf("%d %ld %.2f\n", std::is_sorted(data.begin(), data.end()), drawn, sum);
}
