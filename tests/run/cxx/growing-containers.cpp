// Containers that grow inside a region: one per iteration, and a shared one in a critical section.
// threads: any
#include <cstdio>
#include <map>
#include <string>
#include <vector>

int main() {
  std::vector<std::vector<int>> lists(40);
  std::vector<std::string> words(40);
  std::map<int, std::vector<int>> index;
#pragma omp parallel
  {
#pragma omp for schedule(static, 1)
    for (int i = 0; i < 40; i++) {
      for (int k = 0; k < i * 10; k++) lists[i].push_back(k * i);
      for (int k = 0; k < i; k++) words[i] += static_cast<char>('a' + k % 26);
    }
#pragma omp for
    for (int i = 0; i < 40; i++) {
      int key = static_cast<int>(lists[i].size()) % 7;
#pragma omp critical
      index[key].push_back(i);
    }
  }
  long sum = 0;
  for (auto &[key, members] : index) {
    long part = 0;
    for (int member : members) part += member + static_cast<long>(words[member].size());
    sum = sum * 31 + key * part;
  }
#pragma omp parallel for
  for (int i = 0; i < 40; i++) {
    lists[39 - i].clear();
    lists[39 - i].shrink_to_fit();
    words[i].erase(0, words[i].size() / 2);
  }
  for (auto &word : words) sum += static_cast<long>(word.size());
  std::printf("%ld %zu\n", sum, lists[3].size());
}
