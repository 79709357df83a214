// Tasks that copy C++ objects, share locals and throw exceptions caught inside.
// threads: any
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

struct Tracked {
  std::vector<int> values;
  Tracked(int n) : values(n, n) {}
};

int main() {
  std::vector<long> out(40);
  std::string name = "task";
  int caught = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 40; i++) {
      Tracked tracked(i);
#pragma omp task firstprivate(tracked, name)
      {
        name += std::to_string(i);
        try {
          if (i % 10 == 3) throw std::runtime_error(name);
          for (int v : tracked.values) out[i] += v;
          out[i] += static_cast<long>(name.size());
        } catch (const std::runtime_error &error) {
          out[i] = -static_cast<long>(std::string(error.what()).size());
#pragma omp atomic
          caught++;
        }
      }
    }
  }
  for (long v : out) std::printf("%ld ", v);
  std::printf("%d %s\n", caught, name.c_str());
}
