// An exception that leaves an iteration ends the program, among loops that declare what they access.
// opt: -O0 -O2
// reference: none
// ranks: 1 2 3
// limit: 30
// expect-exit: failure
// expect-stderr: too large: 19999.5
#include <cstdio>
#include <stdexcept>
#include <string>

enum { N = 20000 };
static double a[N], b[N];

__attribute__((noinline)) static double checked(double value) {
  if (value > 19999)
    throw std::runtime_error("too large: " + std::to_string(value));
  return value + 1;
}

int main() {
  for (int i = 0; i < N; i++)
    a[i] = i;
  for (int t = 0; t < 3; t++) {
#pragma omp parallel
    {
#pragma omp for
      for (int i = 0; i < N; i++)
        b[i] = a[N - 1 - i] - 0.5 * t;
#pragma omp for
      for (int i = 0; i < N; i++)
        a[i] = checked(b[i]);
    }
  }
  std::printf("not reached\n");
}
