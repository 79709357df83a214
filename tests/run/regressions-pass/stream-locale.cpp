// While std::cout has a locale of its own, which one process knows, regions run as teams of one.
// threads: any
// ranks: 2 4
// expect-stderr: runs on rank 0 alone, as all do while a standard stream of C++ has a locale that was given to it by imbue
#include <iostream>
#include <locale>
#include <string>

struct Grouped : std::numpunct<char> {
  char do_thousands_sep() const override { return '\''; }
  std::string do_grouping() const override { return "\3"; }
};

static void print_in_order() {
#pragma omp parallel for ordered schedule(static, 1)
  for (int i = 0; i < 8; i++) {
#pragma omp ordered
    std::cout << i * 1000000 << '\n';
  }
}

int main() {
  print_in_order();
  std::locale before = std::cout.imbue(std::locale(std::locale(), new Grouped));
  print_in_order();
  std::cout.imbue(before);
  print_in_order();
}
