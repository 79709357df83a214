// C and C++ sources in one program, calling each other from regions.
// threads: any
#include <cstdio>
#include <vector>

extern "C" {
double c_kernel(double *values, int n);
double cxx_square(double x);
extern int c_calls;
}

double cxx_square(double x) { return x * x; }

int main() {
  std::vector<double> values(200);
#pragma omp parallel for
  for (int i = 0; i < 200; i++) values[i] = cxx_square(i);
  double sum = c_kernel(values.data(), 200);
#pragma omp parallel
  {
    double again = c_kernel(values.data(), 200);
#pragma omp master
    sum += again;
  }
  std::printf("%.1f %d\n", sum, c_calls > 1);
}
