// An instance of a template that two files have, with an orphaned loop: the linker keeps that of elsewhere.cpp, which
// comes first and in which nothing is declared. The region here declares all its accesses.
// compare: tolerance 1e-12
#include "smooth.h"
#include <cstdio>

double other(double *to, const double *from, int n);

const int n = 20000;
static double x[n], y[n], z[n];

int main() {
  for (int i = 0; i < n; i++)
    x[i] = y[i] = i % 17;
  double s = 0;
  for (int step = 0; step < 20; step++) {
#pragma omp parallel
    {
#pragma omp for
      for (int i = 0; i < n; i++)
        z[i] = x[n - 1 - i] + step;
      smooth(y, x, n);
#pragma omp for
      for (int i = 0; i < n; i++)
        y[i] += 0.5 * z[i];
      smooth(x, y, n);
#pragma omp for nowait
      for (int i = 0; i < n; i++)
        z[i] += x[i];
    }
    if (step % 10 == 5)
      s += x[n / 2]++;
  }
  s += other(y, x, n);
  for (int i = 0; i < n; i++)
    s += (x[i] + y[i]) * (i % 13) + z[i];
  std::printf("%.15g\n", s);
}
