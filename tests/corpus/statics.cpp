// Static objects: local ones in inline functions and templates, order of initialisation, thread_local ones.
// RUN: %S/compile %plugin %s -std=c++17
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <vector>
struct counter {
  static inline std::atomic<int> made{0};
  int n;
  counter(int n = 3) : n(n) { made++; }
  ~counter() { made--; }
};
inline counter shared_by_files{5};
template <class T> counter of_type{sizeof(T)};
thread_local counter own{7};
static thread_local std::vector<int> scratch(8);
struct holder {
  static thread_local std::string text;
  static inline thread_local int number = 4;
  static counter &once() {
    static counter c{9};
    return c;
  }
};
thread_local std::string holder::text = "text of a thread that is long enough for the heap";
template <class T> inline int tally(T x) {
  static int calls;
  static thread_local T last = x;
  static const std::string names[] = {"a", "b", std::to_string(x)};
#pragma omp atomic
  calls++;
  return int(last) + int(names[2].size());
}
static int dynamically = holder::once().n + of_type<double>.n;
int copied;
#pragma omp threadprivate(copied)
int main() {
  int s = 0;
  copied = dynamically;
#pragma omp parallel copyin(copied) reduction(+ : s)
  {
    scratch[3] = own.n;
#pragma omp for
    for (int i = 0; i < 40; i++) {
      static counter inside{i < 100 ? 2 : 3};
      s += holder::once().n + tally(1) + tally(2.0) + shared_by_files.n + inside.n + copied + scratch[3];
      s += holder::text.size() + holder::number + of_type<int>.n;
    }
  }
  std::printf("%d %d\n", s, counter::made.load() > 0);
}
