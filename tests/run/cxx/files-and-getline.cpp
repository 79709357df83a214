// fstream and std::getline in serial code, the lines used in a region.
// threads: any
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

int main() {
  {
    std::ofstream out("table.txt");
    for (int i = 0; i < 100; i++) out << i << ',' << i * i << ",some text to fill the line\n";
  }
  std::vector<std::string> lines;
  std::ifstream in("table.txt");
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  long sum = 0;
  std::vector<double> values(lines.size());
#pragma omp parallel for reduction(+ : sum)
  for (std::size_t i = 0; i < lines.size(); i++) {
    std::size_t comma = lines[i].find(',');
    sum += std::stol(lines[i].substr(comma + 1));
    values[i] = std::stod(lines[i]) / 2;
  }
  std::ofstream binary("values.bin", std::ios::binary);
  binary.write(reinterpret_cast<const char *>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(double)));
  binary.close();
  std::vector<double> again(values.size());
  std::ifstream back("values.bin", std::ios::binary);
  back.read(reinterpret_cast<char *>(again.data()),
            static_cast<std::streamsize>(again.size() * sizeof(double)));
  std::cout << sum << ' ' << (again == values) << ' ' << again[99] << '\n';
  std::remove("table.txt");
  std::remove("values.bin");
}
