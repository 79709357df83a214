// shared_ptr reference counts changed by all threads at once; weak_ptr; deletion in a region.
// threads: any
#include <atomic>
#include <cstdio>
#include <memory>
#include <vector>

static std::atomic<int> deleted{0};

struct Resource {
  int value;
  explicit Resource(int v) : value(v) {}
  ~Resource() { deleted++; }
};

int main() {
  auto shared = std::make_shared<Resource>(17);
  std::weak_ptr<Resource> weak = shared;
  std::vector<std::shared_ptr<Resource>> copies(200);
  long sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(static, 1)
  for (int i = 0; i < 200; i++) {
    copies[i] = shared;
    auto locked = weak.lock();
    if (locked) sum += locked->value;
  }
  std::printf("%ld %ld\n", sum, shared.use_count());
#pragma omp parallel for schedule(static, 3)
  for (int i = 0; i < 200; i++) copies[i] = i % 2 ? nullptr : std::make_shared<Resource>(i);
  std::printf("%ld %d\n", shared.use_count(), deleted.load());
  shared.reset();
  copies.clear();
  std::printf("%d %d\n", deleted.load(), weak.expired());
}
