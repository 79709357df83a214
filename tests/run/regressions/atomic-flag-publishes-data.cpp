// What was written before an atomic store with release order is seen after a load with acquire order
// that finds the stored value, without a barrier between them. Nobody waits: who comes too early asks
// again later.
// threads: any
#include <atomic>
#include <cstdio>
#include <memory>
#include <vector>

static int data[8][1500];
static std::atomic<int> ready[8];
static std::atomic<int> left{0};
static long sums[8];

struct Counted {
  std::vector<int> values;
  long *sum;
  ~Counted() {
    for (int value : values) *sum += value;
  }
};

int main() {
  long wrong = 0;
  for (int round = 1; round <= 10; round++) {
#pragma omp parallel reduction(+ : wrong)
    {
      // Everybody has a copy of all pages.
      for (auto &row : data)
        for (int value : row) wrong += value != round - 1;
#pragma omp barrier
#pragma omp for schedule(static, 1) nowait
      for (int i = 0; i < 8; i++) {
        for (int &value : data[i]) value = round;
        ready[i].store(round, std::memory_order_release);
      }
      for (int attempt = 0; attempt < 4; attempt++)
        for (int i = 0; i < 8; i++)
          if (ready[i].load(std::memory_order_acquire) == round)
            for (int value : data[i]) wrong += value != round;
    }
  }
  std::printf("%ld wrong\n", wrong);

  // The last owner of an object sees what the others did to it.
  for (int round = 0; round < 5; round++) {
    for (int i = 0; i < 8; i++) {
      auto shared = std::make_shared<Counted>();
      shared->values.assign(64, 0);
      shared->sum = &sums[i];
#pragma omp parallel for schedule(static, 1) firstprivate(shared)
      for (int j = 0; j < 64; j++) shared->values[j] = i + j;
      shared.reset();
    }
  }
  long total = 0;
  for (long sum : sums) total += sum;
  std::printf("%ld\n", total);

  // The last one to arrive adds up what the others wrote.
  long added = 0;
  for (int round = 0; round < 5; round++) {
    left = 64;
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < 64; i++) {
      data[i % 8][i] = i + round;
      if (left.fetch_sub(1) == 1)
        for (int j = 0; j < 64; j++) added += data[j % 8][j];
    }
  }
  std::printf("%ld\n", added);
}
