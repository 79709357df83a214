// Functions and methods of other files in C++ loops: they throw, are virtual, inline, templates.
// opt: -O0 -O2
// threads: any
#include "shapes.hpp"
#include <cstdio>

double values[N], more[N];

int main() {
  Curve curve{0.5}, shared{1};
  Shape *shapes[2] = {shape(0), shape(1)};
  for (int i = 0; i < N; i++)
    values[i] = i % 7;
  int caught = 0;
  Sum<double> total;
#pragma omp parallel reduction(+ : caught)
  for (int step = 0; step < 3; step++) {
#pragma omp for
    for (int i = 0; i < N; i++) {
      more[i] = 2 * values[i];
      // What is thrown in a turn is caught in it.
      try {
        values[i] += checked(i % 10 == 3 ? -1 : values[i]);
      } catch (const std::exception &) {
        caught++;
        more[i] += 1;
      }
    }
#pragma omp for
    for (int i = 0; i < N; i++)
      values[i] += checked_noexcept(more[N - 1 - i]) + curve.at(i) + twice(more[i]);
    // Between loops, to a handler in the region.
    try {
      smooth(values, step == 1 ? -1 : N);
    } catch (int) {
      caught++;
    }
#pragma omp barrier
#pragma omp for
    for (int i = 0; i < N; i++)
      more[i] += logged(values[i], i);
#pragma omp for
    for (int i = 0; i < N; i++)
      values[i] += written[N - 1 - i];
#pragma omp for
    for (int i = 0; i < N; i++)
      values[i] += shapes[i % 2]->area(more[i], i);
#pragma omp for
    for (int i = 0; i < N; i++)
      more[i] += written[N - 1 - i];
#pragma omp for
    for (int i = 0; i < N; i++)
      more[i] += of_common(values[i], i);
#pragma omp for
    for (int i = 0; i < N; i++)
      values[i] += common(more[i], N - 1 - i);
#pragma omp single
    {
      shared.change(0.5);
      total.add(values[step]);
    }
#pragma omp for
    for (int i = 0; i < N; i++) {
      Sum<double> own;
      own.add(values[i]);
      own.add(shared.at(more[i]));
      more[i] += own.mean(2);
    }
  }
  double sum = 0;
  for (int i = 0; i < N; i++)
    sum = sum * 0.999 + values[i] - more[i] + written[i];
  // Each thread counts what is thrown between loops.
  std::printf("%.9g %.9g %d\n", sum, total.mean(3), caught >= 900);
}
