// Loops that are collapsed, over rows with borders: neighbours in other rows, and ones that each turn chooses.
// threads: any
#include <algorithm>
#include <cstdio>
#include <cstdlib>

struct Plane {
  size_t width;
  double *data;
  Plane(size_t width, size_t height) : width(width), data((double *)calloc(width * height, 8)) {}
  double &operator()(size_t i, size_t j) const { return data[i + j * width]; }
};

// Reads rows in front of the first one that is written: a product of a sum, in which nothing is left of the sum's number.
static void spread(int left, int right, int top, int bottom, Plane &to, Plane &from) {
#pragma omp parallel for simd collapse(2)
  for (int j = top + 1; j < bottom + 2; j++)
    for (int i = left + 1; i < right + 2; i++)
      to(i, j) = 0.5 * from(i, j) + 0.2 * from(i - 1, j) + 0.2 * from(i, j - 1) + 0.1 * from(i + 1, j + 1);
}

// Along rows, from where the wind comes.
static void move(int left, int right, int top, int bottom, Plane &wind, Plane &to, Plane &from) {
#pragma omp parallel for collapse(2)
  for (int j = top + 1; j < bottom + 2; j++)
    for (int i = left + 1; i < right + 2; i++) {
      int before, here;
      if (wind(i, j) > 0) {
        before = i - 2;
        here = i - 1;
      } else {
        before = std::min(i + 1, right + 2);
        here = i;
      }
      to(i, j) = from(here, j) + 0.25 * (from(here, j) - from(before, j));
    }
}

// Across them.
static void sink(int left, int right, int top, int bottom, Plane &wind, Plane &to, Plane &from) {
#pragma omp parallel for collapse(2)
  for (int j = top + 1; j < bottom + 2; j++)
    for (int i = left + 1; i < right + 2; i++) {
      int before = wind(i, j) < 0 ? std::max(j - 2, top) : std::min(j + 2, bottom + 2);
      to(i, j) = 0.75 * from(i, j) + 0.25 * from(i, before);
    }
}

// Of two planes, and one of two loops.
static void either(int n, Plane &wind, Plane &to, Plane &a, Plane &b) {
#pragma omp parallel for
  for (int j = 1; j < n; j++)
    for (int i = 1; i < n; i++) {
      double *from = wind(i, j) > 0.5 ? a.data : b.data;
      int other = wind(i, j) > 0 ? j - 1 : j + 1;
      to(i, j) = from[i + other * a.width];
    }
}

// One that is never chosen need not be anywhere.
static double none(int n, Plane &wind, Plane &a, double *other) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int j = 1; j < n; j++)
    for (int i = 1; i < n; i++) {
      double *from = wind(i, j) > 2 ? other : a.data;
      sum += from[i + j * a.width];
    }
  return sum;
}

int main() {
  const int n = 97;
  Plane a(n + 4, n + 4), b(n + 4, n + 4), wind(n + 4, n + 4);
  for (int k = 0; k < (n + 4) * (n + 4); k++) {
    a.data[k] = k % 23;
    wind.data[k] = (k * 7919 % 101 - 50) / 50.0;
  }
  double sum = 0;
  for (int step = 0; step < 8; step++) {
    spread(1, n, 1, n, b, a);
    move(1, n, 1, n, wind, a, b);
    sink(1, n - step, 1, n - step, wind, b, a);
    either(n, wind, a, b, wind);
    double *freed = (double *)malloc(n * n * 8);
    free(freed);
    for (double *other : {(double *)nullptr, (double *)16, (double *)-4096, freed, &sum})
      sum = sum * 0.9 + none(n, wind, a, other);
    for (int k = 0; k < (n + 4) * (n + 4); k += 13) sum = sum * 0.99 + a.data[k] + b.data[k];
  }
  printf("%.15g\n", sum);
}
