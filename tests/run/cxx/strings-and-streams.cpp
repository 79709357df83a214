// Strings, string streams and cout in regions and serial code.
// threads: any
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

int main() {
  std::vector<std::string> text(50);
  std::string shared = "a string longer than the small buffer of std::string";
#pragma omp parallel for
  for (int i = 0; i < 50; i++) {
    std::ostringstream out;
    out << std::setw(4) << i << ' ' << std::fixed << std::setprecision(2) << i / 3.0 << ' '
        << shared.substr(static_cast<std::size_t>(i) % 20, 5);
    text[i] = out.str();
  }
#pragma omp parallel
  {
#pragma omp single
    std::cout << text[7] << std::endl;
#pragma omp for ordered schedule(static, 3)
    for (int i = 0; i < 10; i++) {
#pragma omp ordered
      std::cout << "ordered " << i << ' ' << text[i] << '\n';
    }
#pragma omp master
    shared += '!';
  }
  std::string all;
  for (auto &line : text) all += line;
  int a = 0, b = 0;
  std::istringstream in("12 30");
  in >> a >> b;
  std::cout << shared << ' ' << all.size() << ' ' << all.find("40") << ' ' << a + b << '\n';
}
