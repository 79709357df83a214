// What a thread sets on std::cout in a region holds for all threads after the next barrier, and in serial
// code and regions that follow.
#include <iomanip>
#include <iostream>
#include <omp.h>

static void print_in_order(double x) {
#pragma omp for ordered schedule(static, 1)
  for (int i = 0; i < 8; i++) {
#pragma omp ordered
    std::cout << i << ' ' << x + i << ' ' << std::setw(6) << i << ' ' << (i > 3) << '\n';
  }
}

int main() {
#pragma omp parallel
  {
    print_in_order(1.0 / 3);
    // The last thread, each setting of another thread.
    if (omp_get_thread_num() == omp_get_num_threads() - 1) std::cout << std::fixed << std::setprecision(3);
#pragma omp barrier
    print_in_order(1.0 / 3);
#pragma omp barrier
#pragma omp critical
    std::cout << std::boolalpha;
#pragma omp barrier
    if (omp_get_thread_num() == 0) std::cout << std::setfill('.');
#pragma omp barrier
    print_in_order(1.0 / 3);
#pragma omp barrier
    if (omp_get_thread_num() == omp_get_num_threads() / 2) std::cout.precision(7);
  }
  std::cout << 1.0 / 3 << ' ' << true << ' ' << std::setw(4) << 1 << '\n';
  std::cout << std::defaultfloat << std::noboolalpha;
#pragma omp parallel
  print_in_order(2.0 / 3);
}
