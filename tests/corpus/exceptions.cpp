// Exceptions: caught in regions, through constructors, with cleanups, specifications, function-try-blocks.
// RUN: %S/compile %plugin %s -std=c++17
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>
struct counted {
  static int alive;
  int n;
  explicit counted(int n) : n(n) {
    if (n == 13)
      throw std::runtime_error("thirteen");
#pragma omp atomic
    alive++;
  }
  counted(const counted &o) : counted(o.n) {}
  ~counted() noexcept(false) {
#pragma omp atomic
    alive--;
  }
};
int counted::alive;
struct member {
  counted c;
  member(int n) try : c(n) {
  } catch (std::runtime_error &) {
    throw std::logic_error("in a member");
  }
};
[[noreturn]] static void fail(int n) { throw n; }
static int quiet(int n) noexcept { return n ? n : (fail(n), 1); }
static int nested(int n) {
  try {
    try {
      if (n % 3 == 0)
        fail(n);
      return 1;
    } catch (int &k) {
      k++;
      throw;
    }
  } catch (int k) {
    return k;
  } catch (...) {
    return -1;
  }
}
static void outer_region(std::vector<int> &v) {
  counted guard(1);
  std::string text = "text that does not fit into the object itself";
#pragma omp parallel for
  for (int i = 0; i < int(v.size()); i++) {
    std::string own = text + std::to_string(i);
    try {
      counted c(i);
      v.at(i + (i == 20 ? 1000 : 0)) = nested(i) + own.size();
    } catch (const std::out_of_range &) {
      v[i] = -1;
    } catch (const std::exception &e) {
      v[i] = e.what()[0];
    }
  }
  if (v.size() > 1000)
    throw std::bad_alloc();
}
int main() {
  std::vector<int> v(30);
  try {
    outer_region(v);
#pragma omp parallel
    {
#pragma omp single
      try {
        member m(13);
      } catch (std::logic_error &e) {
        v[0] = quiet(3);
      }
#pragma omp critical
      try {
        std::exception_ptr p = std::make_exception_ptr(3);
        std::rethrow_exception(p);
      } catch (int n) {
        v[1] = n;
      }
    }
  } catch (...) {
    return 1;
  }
  std::printf("%d %d %d\n", counted::alive, v[13], v[20]);
}
