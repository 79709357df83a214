// Coroutines with regions in them: a program of both versions suspends and resumes in its own kind.
// flags: -std=c++20
#include <coroutine>
#include <cstdio>

struct Sums {
  struct promise_type {
    long value = 0;
    Sums get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(long sum) {
      value = sum;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
  std::coroutine_handle<promise_type> handle;
};

static long values[600];

static Sums sums(int rounds) {
  for (int round = 1; round <= rounds; round++) {
    long sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 600; i++) {
      values[i] += i * round;
      sum += values[i];
    }
    co_yield sum;
  }
}

int main() {
  Sums all = sums(5);
  for (all.handle.resume(); !all.handle.done(); all.handle.resume()) std::printf("%ld\n", all.handle.promise().value);
  all.handle.destroy();
  return 0;
}
