// Rows are numbered in a map that a critical section guards, in turns that do little else, and locks guard what several rows
// add to; loops that ranks share come before and after, and critical sections that catch what they throw.
// threads: any
#include <omp.h>

#include <cstdio>
#include <map>
#include <stdexcept>
#include <vector>

enum { ROWS = 3000, BINS = 40 };

static std::map<long, int> places;
static long values[ROWS][3], sums[BINS], refused;
static int counts[BINS];

static void check(long key) {
  if (key % 101 == 0) throw std::runtime_error("refused");
}

int main() {
  std::vector<long> keys(ROWS);
  std::vector<omp_lock_t> locks(BINS);
  for (auto &one : locks) omp_init_lock(&one);
  for (int round = 0; round < 3; round++) {
#pragma omp parallel for
    for (int i = 0; i < ROWS; i++) keys[i] = (i * 7919L + round) % 100003;
    long filled = 0;
#pragma omp parallel for
    for (int i = 0; i < ROWS; i++) {
#pragma omp critical
      places[keys[i]] = i;
      for (int j = -1; j < 2; j++)
        if (i + j >= 0 && i + j < ROWS) values[i][j + 1] += keys[i] + j;
#pragma omp critical
      filled += values[i][1] % 5;
    }
#pragma omp parallel for
    for (int i = 0; i < ROWS; i++) {
      int bin = (keys[i] + i) % BINS;
      omp_set_lock(&locks[bin]);
      sums[bin] += keys[i];
      counts[bin]++;
      omp_unset_lock(&locks[bin]);
    }
#pragma omp parallel for schedule(static, 50)
    for (int i = 0; i < ROWS; i += 10) {
#pragma omp critical
      try {
        check(keys[i]);
      } catch (const std::exception &) {
        refused++;
      }
    }
    long sum = 0, of_bins = 0, of_map = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < ROWS; i++) sum += values[i][0] + 2 * values[i][1] + 3 * values[i][2];
    for (int bin = 0; bin < BINS; bin++) of_bins += (bin + 1) * sums[bin] + counts[bin];
    for (auto &[key, row] : places) of_map = (of_map * 31 + key * 7 + row) % 1000003;
    std::printf("%ld %ld %ld %ld %zu %ld\n", filled, sum, of_bins, of_map, places.size(), refused);
  }
  for (auto &one : locks) omp_destroy_lock(&one);
}
