// A home-made spin lock: its exchange acquires, and its store releases.
#include <atomic>
#include <cstdio>

static std::atomic<bool> locked{false};
static long total = 0;

int main() {
#pragma omp parallel for
  for (int i = 0; i < 100; i++) {
    while (locked.exchange(true, std::memory_order_acquire)) {
    }
    total += i;
    locked.store(false, std::memory_order_release);
  }
  std::printf("%ld\n", total);
}
