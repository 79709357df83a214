// The same through std::mutex and std::lock_guard.
// threads: any
// warns: parallel region runs on rank 0 alone: it calls pthread_mutex_lock, which works inside one process only
#include <cstdio>
#include <mutex>
#include <vector>

int main() {
  std::mutex mutex;
  std::vector<int> found;
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {
    if (i % 9 == 0) {
      std::lock_guard<std::mutex> guard(mutex);
      found.push_back(i);
    }
  }
  long sum = 0;
  for (int value : found) sum += value;
  std::printf("%zu %ld\n", found.size(), sum);
}
