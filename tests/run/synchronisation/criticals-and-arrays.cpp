// Critical sections in loops that are tracked, which read and write arrays that other loops have declared.
// threads: any
#include <cstdio>
#include <map>

int main() {
  const int rows = 700, n = 9;
  double **value = new double *[rows], *sum = new double[rows];
  int *order = new int[rows], *previous = new int[rows];
  std::map<int, int> places;
  long total = 0, seen = 0;
#pragma omp parallel for
  for (int i = 0; i < rows; i++) {
    value[i] = nullptr;
    sum[i] = order[i] = 0;
    previous[i] = i;
  }
  for (int i = 0; i < rows; i++) value[i] = new double[n];
  for (int step = 0; step < 3; step++) {
#pragma omp parallel for schedule(static, 7)
    for (int i = 0; i < rows; i++) {
#pragma omp critical
      places[i * 31 % rows] += i;
      double *row = value[i];
      for (int k = 0; k < n; k++) row[k] = i + k * step;
      order[i] = previous[rows - 1 - i] + step;
#pragma omp critical
      {
        total += order[i];
        sum[i % 5] += i;
        // What others have counted so far, in an array that all change.
        for (int k = 0; k < 5; k++) seen += sum[k] >= 0;
      }
    }
#pragma omp parallel for
    for (int i = 0; i < rows; i++) previous[i] = order[i] % 97;
  }
  double all = 0;
  for (int i = 0; i < rows; i++)
    for (int k = 0; k < n; k++) all = all * 0.99 + value[i][k] + sum[i] + previous[i];
  for (auto &[key, one] : places) all = all * 0.9 + key * one;
  printf("%ld %ld %.15g\n", total, seen, all);
}
