// A C++ file stream written in a region.
// threads: any
// warns: parallel region runs on rank 0 alone: it
#include <cstdio>
#include <fstream>
#include <string>

int main() {
  {
    std::ofstream out("lines.txt");
#pragma omp parallel for ordered
    for (int i = 0; i < 30; i++) {
#pragma omp ordered
      out << "line " << i << '\n';
    }
  }
  std::ifstream in("lines.txt");
  int lines = 0;
  std::size_t length = 0;
  for (std::string line; std::getline(in, line); lines++) length += line.size();
  std::printf("%d %zu\n", lines, length);
  std::remove("lines.txt");
}
