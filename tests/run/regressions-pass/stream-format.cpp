// What serial code sets on std::cout holds for the output of every thread.
#include <iomanip>
#include <iostream>

static void print_in_order(double x) {
#pragma omp parallel for ordered schedule(static, 1)
  for (int i = 0; i < 8; i++) {
#pragma omp ordered
    std::cout << i << ' ' << x + i << ' ' << std::setw(5) << i << ' ' << (i > 3) << '\n';
  }
}

int main() {
  print_in_order(1.0 / 3);
  std::cout << std::fixed << std::setprecision(2) << std::setfill('.') << std::boolalpha;
  print_in_order(1.0 / 3);
  std::cout.precision(12);
  std::cout.setf(std::ios::scientific, std::ios::floatfield);
  std::cout << std::left << std::hex << std::showbase;
  print_in_order(1.0 / 3);
}
