#include <numeric>
#include <vector>

extern "C" double cxx_sum(const double *a, int n) {
  std::vector<double> parts;
  double sum = 0;
#pragma omp parallel
  {
    double own = 0;
#pragma omp for nowait
    for (int i = 0; i < n; i++) own += a[i];
#pragma omp critical
    parts.push_back(own);
  }
  sum = std::accumulate(parts.begin(), parts.end(), 0.0);
  return sum;
}
