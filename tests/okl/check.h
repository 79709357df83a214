// What the programs here share: numbers to compute with, and the comparison with what plainly written loops compute.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <vector>

// How many results are wrong: what `main` returns.
inline int wrong = 0;

// Whole numbers in no order: sums and products of some of them are exact, whatever comes first.
template <typename T = float> std::vector<T> numbers(int n, int least = -50, int most = 50, unsigned seed = 1) {
  std::vector<T> all(n);
  for (T &one : all) {
    seed = seed * 1664525u + 1013904223u;
    one = static_cast<T>(least + static_cast<int>((seed >> 8) % static_cast<unsigned>(most - least + 1)));
  }
  return all;
}

// Results are the same, or nearly so where the order of operations matters.
template <typename T>
void compare(const char *name, const std::vector<T> &found, const std::vector<T> &expected, double tolerance = 0) {
  for (std::size_t i = 0; i < expected.size(); i++) {
    const double difference = std::fabs(static_cast<double>(found.at(i)) - static_cast<double>(expected[i]));
    // What is no number is no result.
    if (!(difference <= tolerance * (1 + std::fabs(static_cast<double>(expected[i]))))) {
      wrong++;
      std::printf("%s: wrong at %zu: %.9g, not %.9g\n", name, i, static_cast<double>(found[i]),
                  static_cast<double>(expected[i]));
      return;
    }
  }
  std::printf("%s: right\n", name);
}
