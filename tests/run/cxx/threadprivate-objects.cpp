// threadprivate objects of classes: constructed for each thread, copied by copyin and copyprivate.
// threads: any
#include <cstdio>
#include <string>
#include <vector>

struct Buffer {
  std::vector<int> data;
  std::string name;
  Buffer() : data(4, 2), name("constructed, with a long enough name") {}
};

static Buffer buffer;
#pragma omp threadprivate(buffer)
static thread_local std::vector<long> local(3, 5);

int main() {
  int wrong = 0;
  buffer.data.assign(10, 1);
  buffer.name = "assigned by the initial thread";
#pragma omp parallel copyin(buffer) reduction(+ : wrong)
  {
    wrong += buffer.data.size() != 10 || buffer.name[0] != 'a';
    local.push_back(8);
    wrong += local.size() != 4 || local[0] != 5;
#pragma omp barrier
#pragma omp single copyprivate(buffer)
    {
      buffer.name = "told by one thread to all the others";
      buffer.data.push_back(77);
    }
    wrong += buffer.name[0] != 't' || buffer.data.back() != 77;
  }
  std::printf("%d %zu %zu\n", wrong, buffer.data.size(), local.size());
}
