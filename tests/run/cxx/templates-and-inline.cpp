// Regions in templates, inline variables, static members and constexpr tables.
// threads: any
#include <cstdio>
#include <vector>

inline std::vector<int> registry(64);
inline int inline_counter = 3;

template <typename T> struct Accumulator {
  static T total;
  static inline int uses = 0;
  static void add(const std::vector<T> &values) {
    T sum{};
#pragma omp parallel for reduction(+ : sum)
    for (std::size_t i = 0; i < values.size(); i++) sum += values[i];
    total += sum;
    uses++;
  }
};
template <typename T> T Accumulator<T>::total = 1;

template <int N> struct Powers {
  int values[N];
  constexpr Powers() : values() {
    for (int i = 0, p = 1; i < N; i++, p = p * 3 % 1009) values[i] = p;
  }
};
static constexpr Powers<40> powers;

int main() {
  std::vector<double> d(100, 0.5);
  std::vector<int> n(100, 7);
  Accumulator<double>::add(d);
  Accumulator<int>::add(n);
  Accumulator<int>::add(n);
#pragma omp parallel for
  for (int i = 0; i < 64; i++) registry[i] += powers.values[i % 40] + inline_counter;
#pragma omp parallel
  {
#pragma omp atomic
    inline_counter += 0;
#pragma omp single
    inline_counter++;
  }
  long sum = 0;
  for (int value : registry) sum += value;
  std::printf("%.1f %d %d %d %ld %d\n", Accumulator<double>::total, Accumulator<int>::total,
              Accumulator<double>::uses, Accumulator<int>::uses, sum, inline_counter);
}
