// C++ atomics and atomic builtins in a region.
// libs: -latomic
// threads: any
#include <atomic>
#include <cstdio>
#include <vector>

struct Wide {
  long a, b, c;
};

int main() {
  std::atomic<int> counter{0};
  std::atomic<double> real{0};
  std::atomic<bool> flag{false};
  std::atomic<Wide> wide{Wide{0, 0, 0}};
  std::vector<std::atomic<long>> bins(7);
  long plain = 0;
  int firsts = 0;
#pragma omp parallel for reduction(+ : firsts) schedule(static, 3)
  for (int i = 0; i < 120; i++) {
    counter += i;
    double old = real.load();
    while (!real.compare_exchange_weak(old, old + 0.5)) {
    }
    firsts += !flag.exchange(true);
    bins[i % 7].fetch_add(i, std::memory_order_relaxed);
    __atomic_fetch_xor(&plain, i * 3L, __ATOMIC_SEQ_CST);
    if (i % 10 == 0) {
      Wide seen = wide.load();
      while (!wide.compare_exchange_strong(seen, Wide{seen.a + 1, seen.b + 2, seen.c - i})) {
      }
    }
  }
  Wide w = wide.load();
  std::printf("%d %.1f %d %ld %ld %ld %ld", counter.load(), real.load(), firsts, plain, w.a, w.b,
              w.c);
  for (auto &bin : bins) std::printf(" %ld", bin.load());
  std::printf("\n");
}
