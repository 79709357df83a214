// The program's own new and delete, literals, conversions, placement, alignment, initialiser lists.
// RUN: %S/compile %plugin %s -std=c++17
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <new>
void *operator new(std::size_t n) { return std::malloc(n ? n : 1); }
void operator delete(void *p) noexcept { std::free(p); }
void operator delete(void *p, std::size_t) noexcept { std::free(p); }
struct alignas(64) line {
  double d[8];
  static void *operator new[](std::size_t n, std::align_val_t a) { return std::aligned_alloc(std::size_t(a), n); }
  static void operator delete[](void *p, std::align_val_t) { std::free(p); }
};
struct length {
  double metres;
  constexpr explicit operator bool() const { return metres != 0; }
  constexpr operator double() const { return metres; }
};
constexpr length operator""_m(long double x) { return {double(x)}; }
struct list {
  int n = 0;
  list(std::initializer_list<int> all) {
    for (int one : all)
      n += one;
  }
  list &operator,(const list &o) {
    n += o.n;
    return *this;
  }
};
struct no_return {
  ~no_return() { std::puts(""); }
};
int main() {
  line *lines = new line[10];
  alignas(alignof(list)) unsigned char place[sizeof(list)];
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < 10; i++) {
    lines[i] = line{{double(i), 2.0_m}};
    list *l = new list{i, 2, 3};
    list &both = (*l, list{1});
    s += both.n + lines[i].d[1] + (2.5_m ? 1 : 0);
    delete l;
    int *many = new (std::nothrow) int[i + 1]();
    s += many[i] + std::uintptr_t(lines + i) % 64;
    delete[] many;
  }
  list *l = new (place) list{1, 2};
  std::printf("%g %d\n", s, l->n);
  l->~list();
  delete[] lines;
}
