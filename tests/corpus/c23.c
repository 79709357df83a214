// C23.
// RUN: %S/compile %plugin %s -std=c23
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdint.h>
constexpr int size = 0b100'0000;
enum small : unsigned char { one = 1, two };
enum large : uint64_t { huge_value = 0xffff'ffff'ffff'ffffull };
static const unsigned char bytes[] = {
#embed __FILE__ limit(16)
};
thread_local int own = 3;
static double values[size] = {};
[[noreturn]] static void stop(int) { __builtin_abort(); }
[[nodiscard("it is all it does"), gnu::pure]] static double half(double x) { return x / 2; }
struct tagged {
  int x;
};
struct tagged {
  int x;
};
int unnamed(int, float) { return 3; }
static int variadic(...) {
  va_list list;
  va_start(list);
  int n = va_arg(list, int);
  va_end(list);
  return n;
}

int main() {
  auto s = 0.0;
  bool found = false;
  int *nothing = nullptr;
  typeof_unqual(size) n = size;
#pragma omp parallel for reduction(+ : s) reduction(|| : found)
  for (auto i = 0; i < n; i++) {
    if (i > 1000) [[clang::unlikely]]
      stop(i);
    values[i] = half(i);
    static constexpr int steps[] = {1, 2, 3};
    s += values[i] + steps[i % 3] + bytes[i % sizeof bytes] + variadic(i) + unnamed(i, 1);
    found |= nothing != nullptr || (enum small)i == two;
  label:
    struct tagged t = (struct tagged){i};
    own += t.x;
  }
  printf("%g %d %zu\n", s, found, sizeof(huge_value));
  return 0;
}
