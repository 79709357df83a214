// More memory than there is: malloc says so, new throws, in serial code and in a region.
// threads: any
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

static int refused(std::size_t bytes) {
  int count = 0;
  void *volatile block = std::malloc(bytes);
  count += block == nullptr;
  std::free(block);
  void *volatile zeroed = std::calloc(bytes / 8, 8);
  count += zeroed == nullptr;
  std::free(zeroed);
  try {
    std::vector<char> vector;
    vector.reserve(bytes);
  } catch (const std::bad_alloc &) {
    count++;
  }
  return count;
}

int main() {
  std::size_t bytes = (std::size_t)1 << 55;
  int inside = 0, wrong = 0;
  std::printf("%d\n", refused(bytes));
#pragma omp parallel for reduction(+ : inside, wrong)
  for (int i = 0; i < 8; i++) {
    inside += refused(bytes + i);
    int *block = (int *)std::malloc(1000 * sizeof(int));
    for (int k = 0; k < 1000; k++) block[k] = i + k;
    wrong += block[999] != i + 999;
    std::free(block);
  }
  std::printf("%d %d\n", inside, wrong);
}
