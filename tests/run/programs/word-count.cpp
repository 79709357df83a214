// Words counted in private maps that are merged under a critical section.
// threads: any
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

int main() {
  const char *words[] = {"stencil", "halo", "rank", "a rather long word for a map", "page"};
  std::vector<std::string> lines(120);
  for (int i = 0; i < 120; i++)
    for (int k = 0; k < 6; k++) lines[i] += std::string(words[(i * k + i) % 5]) + ",";
  std::map<std::string, int> total;
#pragma omp parallel
  {
    std::map<std::string, int> mine;
#pragma omp for nowait
    for (int i = 0; i < 120; i++) {
      std::size_t from = 0, to;
      while ((to = lines[i].find(',', from)) != std::string::npos) {
        mine[lines[i].substr(from, to - from)]++;
        from = to + 1;
      }
    }
#pragma omp critical(merge)
    for (const auto &[word, count] : mine) total[word] += count;
  }
  for (const auto &[word, count] : total) std::printf("%s %d\n", word.c_str(), count);
}
