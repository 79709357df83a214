// Reductions into references, members through this, and template parameters.
// threads: any
#include <cstdio>

struct Counter {
  long total = 0;
  int largest = 0;
  void run(int n) {
#pragma omp parallel for reduction(+ : total) reduction(max : largest)
    for (int i = 0; i < n; i++) {
      total += i;
      if (i > largest) largest = i;
    }
  }
};

template <typename T> static void sum_into(T &out, const T *values, int n) {
#pragma omp parallel for reduction(+ : out)
  for (int i = 0; i < n; i++) out += values[i];
}

int main() {
  Counter *counter = new Counter;
  counter->run(100);
  counter->run(50);
  double values[80], sum = 1;
  for (int i = 0; i < 80; i++) values[i] = i * 0.25;
  sum_into(sum, values, 80);
  bool all = true;
#pragma omp parallel for reduction(&& : all)
  for (int i = 0; i < 80; i++) all = all && values[i] < 20;
  std::printf("%ld %d %.2f %d\n", counter->total, counter->largest, sum, all);
  delete counter;
}
