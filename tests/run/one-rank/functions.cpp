// Functions in two versions are one to the program: addresses, calls through pointers and tables of labels, variable
// arguments, exceptions through regions' functions, static variables, virtual functions, constructors in their order.
// threads: any
// ranks: 0 1 2
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>

static std::string order;
struct Says {
  const char *what;
  Says(const char *what) : what(what) { order += what; }
};
__attribute__((init_priority(300))) static Says third("c");
__attribute__((init_priority(200))) static Says second("b");
static Says fourth("d");
__attribute__((constructor(101))) static void early() { std::fputs("early\n", stdout); }
__attribute__((destructor)) static void late() { std::fputs("late\n", stdout); }

static int total;

// Each has an atomic access, and so two versions.
static int counts(int n) {
#pragma omp atomic
  total += n;
  return n + 1;
}
static int twice(int n) { return 2 * counts(n); }

__attribute__((noinline)) static int sum(int n, ...) {
  va_list list;
  va_start(list, n);
  int all = counts(0);
  for (int i = 0; i < n; i++) all += va_arg(list, int);
  double last = va_arg(list, double);
  va_end(list);
  return all + static_cast<int>(last);
}

struct Large {
  long values[20];
};
__attribute__((noinline)) static Large large(Large by_value, int n) {
  by_value.values[3] += counts(n);
  return by_value;
}

// Label addresses are those of one version.
static int machine(const char *code) {
  static void *const labels[] = {&&add, &&twofold, &&end};
  int value = 0;
  goto *labels[*code++ - 'a'];
add:
  value += counts(1);
  goto *labels[*code++ - 'a'];
twofold:
  value *= 2;
  goto *labels[*code++ - 'a'];
end:
  return value;
}

template <class T> T &once() {
  static T value = static_cast<T>(counts(41));
  return value;
}

struct Base {
  virtual ~Base() = default;
  virtual int run(int n) { return counts(n); }
};
struct Derived : Base {
  int run(int n) override {
    if (n > 2) throw std::runtime_error("too many");
    return Base::run(n) + 10;
  }
};

static int recursive(int n) { return n == 0 ? counts(0) : recursive(n - 1) + n; }

using Function = int (*)(int);
static Function const table[] = {counts, twice, recursive};

int main() {
  int results[100] = {};
#pragma omp parallel for
  for (int i = 0; i < 100; i++) results[i] = table[i % 3](i % 7) + counts(1);
  int all = 0;
  for (int one : results) all += one;
  Function same = counts;
  std::function<int(int)> wrapped = twice;
  Base *object = new Derived;
  std::string caught;
  try {
    all += object->run(2) + object->run(3);
  } catch (std::runtime_error &error) {
    caught = error.what();
  }
  delete object;
  Large in = {};
  std::printf("%s %d %d %d %d\n", order.c_str(), all, total, same == table[0], wrapped(4));
  std::printf("%d %ld %d %g %s\n", sum(3, 1, 2, 3, 4.0), large(in, 6).values[3], machine("ababc"), once<double>(),
              caught.c_str());
  return 0;
}
