// Runs the kernels of kernels.okl and prints for each the seconds of a call, the least of a few, and a checksum.
//
//   okl [SCALE]            kernels are functions of the program
//   occa MODE [SCALE]      (compiled with -DOCCA) OCCA compiles them: MODE is Serial or OpenMP; the compiler and its
//                          options come from OCCA_CXX and OCCA_CXXFLAGS
//
// SCALE divides the sizes.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#ifdef OCCA
#include <occa.hpp>

static occa::device device;

template <class T>
struct Array {
  occa::memory there;
  std::vector<T> here;
  explicit Array(std::vector<T> data) : here(std::move(data)) { there = device.malloc<T>(here.size(), here.data()); }
  const std::vector<T> &read() {
    there.copyTo(here.data());
    return here;
  }
};
template <class T>
const occa::memory &passed(const Array<T> &array) {
  return array.there;
}
// In OpenMP mode OCCA takes no options from its environment, and compiles without any.
static occa::json options() {
  const char *flags = getenv("OCCA_CXXFLAGS");
  return {{"compiler_flags", flags ? flags : "-O3"}};
}
#define KERNEL(name) device.buildKernel(SOURCE, #name, options())
static void finish() { device.finish(); }
#else
void triad(int n, double s, const double *a, const double *b, double *c);
void stencil(int n, const float *u, float *v);
void reduction(int n, const float *a, float *sums);
void product(int n, const float *a, const float *b, float *c);
void tensor(int elements, const double *d, const double *u, double *w);
void sparse(int rows, const int *starts, const int *columns, const double *values, const double *x, double *y);

// As OCCA aligns what it allocates.
template <class T>
struct Aligned {
  using value_type = T;
  static constexpr std::align_val_t boundary{64};
  Aligned() = default;
  template <class U>
  Aligned(const Aligned<U> &) {}
  T *allocate(std::size_t count) { return static_cast<T *>(::operator new(count * sizeof(T), boundary)); }
  void deallocate(T *at, std::size_t) { ::operator delete(at, boundary); }
  friend bool operator==(const Aligned &, const Aligned &) { return true; }
  friend bool operator!=(const Aligned &, const Aligned &) { return false; }
};
template <class T>
struct Array {
  std::vector<T, Aligned<T>> here;
  explicit Array(const std::vector<T> &data) : here(data.begin(), data.end()) {}
  const std::vector<T, Aligned<T>> &read() { return here; }
};
template <class T>
T *passed(Array<T> &array) {
  return array.here.data();
}
#define KERNEL(name) name
static void finish() {}
#endif
template <class T>
const T &passed(const T &value) {
  return value;
}

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static const double start = now();

// Numbers that differ, between 0 and 1.
template <class T>
static std::vector<T> numbers(std::size_t count) {
  std::vector<T> all(count);
  for (std::size_t at = 0; at < count; at++) all[at] = T(at * 7919 % 10007) / T(10007);
  return all;
}

// The least time of so many calls behind a first one.
template <class Kernel, class Result, class... Arguments>
static void measure(const char *name, Kernel kernel, int calls, Result &result, Arguments &&...arguments) {
  double least = 1e30;
  for (int call = 0; call <= calls; call++) {
    const double begin = now();
    kernel(passed(arguments)..., passed(result));
    finish();
    const double seconds = now() - begin;
    if (call == 0) printf("%s first %.6f\n", name, now() - start);
    if (call > 0 && seconds < least) least = seconds;
  }
  double sum = 0;
  for (auto value : result.read()) sum += value;
  printf("%s time %.9f checksum %.9g\n", name, least, sum);
}

// The sum of a vector in any order, on one thread: what reading it takes at least.
__attribute__((noinline)) static float total(const float *a, int n) {
#pragma clang fp reassociate(on)
  float sum = 0;
  for (int i = 0; i < n; i++) sum += a[i];
  return sum;
}

int main(int count, char **arguments) {
  int next = 1;
#ifdef OCCA
  if (count < 2) return puts("usage: occa MODE [SCALE]"), 2;
  device.setup({{"mode", std::string(arguments[next++])}});
#endif
  const int scale = next < count ? atoi(arguments[next]) : 1;
  const int calls = scale > 1 ? 1 : 10;
  {
    const int n = (1 << 24) / scale;
    Array<double> a(numbers<double>(n)), b(numbers<double>(n)), c(numbers<double>(n));
    measure("triad", KERNEL(triad), calls, c, n, 0.5, a, b);
  }
  {
    const int n = 4096 / scale / 16 * 16;
    const std::size_t all = std::size_t(n + 2) * (n + 2);
    Array<float> u(numbers<float>(all)), v(numbers<float>(all));
    measure("stencil", KERNEL(stencil), calls, v, n, u);
  }
  {
    const int n = (1 << 24) / scale;
    Array<float> a(numbers<float>(n)), sums(numbers<float>((n + 255) / 256));
    measure("reduction", KERNEL(reduction), calls, sums, n, a);
    double least = 1e30;
    float sum = 0;
    for (int call = 0; call <= calls; call++) {
      const double begin = now();
      sum += total(a.here.data(), n);
      const double seconds = now() - begin;
      if (call > 0 && seconds < least) least = seconds;
    }
    // The same where a cache of 1 MiB or so holds it.
    const int small = (1 << 18) / scale;
    Array<float> b(numbers<float>(small));
    measure("cached", KERNEL(reduction), 20 * calls, sums, small, b);
    printf("reading time %.9f sum %g\n", least, sum);
  }
  {
    const int n = 1024 / scale / 16 * 16;
    Array<float> a(numbers<float>(n * n)), b(numbers<float>(n * n)), c(numbers<float>(n * n));
    measure("product", KERNEL(product), calls, c, n, a, b);
  }
  {
    const int elements = 8192 / scale;
    Array<double> d(numbers<double>(64)), u(numbers<double>(elements * 512)), w(numbers<double>(elements * 512));
    measure("tensor", KERNEL(tensor), calls, w, elements, d, u);
  }
  {
    const int rows = (1 << 20) / scale;
    std::vector<int> starts, columns;
    for (int row = 0; row < rows; row++) {
      starts.push_back(int(columns.size()));
      for (int at = -3; at <= 3; at++) columns.push_back(int((row + rows + at * (at % 2 ? 1 : 997LL)) % rows));
    }
    starts.push_back(int(columns.size()));
    Array<double> values(numbers<double>(columns.size())), x(numbers<double>(rows)), y(numbers<double>(rows));
    Array<int> from(starts), to(columns);
    measure("sparse", KERNEL(sparse), calls, y, rows, from, to, values, x);
  }
}
