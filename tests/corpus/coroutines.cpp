// Coroutines: generators, tasks that throw, awaited in and around regions.
// RUN: %S/compile %plugin %s -std=c++20
#include <coroutine>
#include <cstdio>
#include <exception>
#include <utility>
template <class T> struct generator {
  struct promise_type {
    T value;
    std::exception_ptr failure;
    generator get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(T v) {
      value = std::move(v);
      return {};
    }
    void return_void() {}
    void unhandled_exception() { failure = std::current_exception(); }
  };
  std::coroutine_handle<promise_type> handle;
  ~generator() { handle.destroy(); }
  bool next() {
    handle.resume();
    if (handle.promise().failure)
      std::rethrow_exception(handle.promise().failure);
    return !handle.done();
  }
  T value() { return handle.promise().value; }
};
static generator<int> count(int n, bool fails) {
  for (int i = 0; i < n; i++)
    co_yield i;
  if (fails)
    throw n;
}
static generator<double> with_region(double *a, int n) {
  for (int step = 0; step < 3; step++) {
    double s = 0;
#pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < n; i++)
      s += a[i] += step;
    co_yield s;
  }
}
int main() {
  double a[30] = {};
  int s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < 20; i++) {
    try {
      for (auto g = count(i, i % 5 == 0); g.next();)
        s += g.value();
    } catch (int n) {
      s += n;
    }
  }
  auto steps = with_region(a, 30);
  while (steps.next())
    std::printf("%g\n", steps.value());
  std::printf("%d\n", s);
}
