// While std::cout writes to a file, which one process has open, regions run as teams of one.
// threads: any
// ranks: 2 4
// expect-stderr: runs on rank 0 alone, as all do while a standard stream of C++ writes to the program's own std::filebuf
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>

static long print_all() {
  long sum = 0;
#pragma omp parallel for ordered reduction(+ : sum)
  for (int i = 0; i < 2000; i++) {
#pragma omp ordered
    std::cout << "line " << i << '\n';
    sum += i;
  }
  return sum;
}

int main() {
  long sum = 0;
  {
    std::filebuf file;
    file.open("output.txt", std::ios::out);
    std::streambuf *old = std::cout.rdbuf(&file);
    sum += print_all();
    sum += print_all();
    std::cout.rdbuf(old);
  }
  std::ifstream in("output.txt");
  std::string line;
  int lines = 0;
  while (std::getline(in, line)) lines += line.rfind("line ", 0) == 0;
  std::cout << lines << ' ' << sum << '\n';
  std::remove("output.txt");
}
