// Functions with variable arguments have two versions: one that never looks at them, one that no longer does, and one
// that hands them on. They are called directly and through templates that LLVM inlines.
#include <cstdarg>
#include <cstdio>

static int total;

template <class F> static int called(F f, int k) { return f(k, 2, 3.5); }

bool looks_at_none(...) {
#pragma omp parallel for reduction(+ : total)
  for (int i = 0; i < 10; i++) total += i;
  return total == 45;
}
int only_begins(int k, ...) {
  va_list list;
  va_start(list, k);
  va_end(list);
#pragma omp parallel for reduction(+ : total)
  for (int i = 0; i < k; i++) total += i;
  return total;
}
int adds(int k, ...) {
  va_list list;
  va_start(list, k);
  int more = va_arg(list, int);
  double part = va_arg(list, double);
  va_end(list);
#pragma omp parallel for reduction(+ : total)
  for (int i = 0; i < k; i++) total += more;
  return total + (int)(2 * part);
}

int main() {
  int (*volatile unknown)(int, ...) = adds;
  std::printf("%d %d %d\n", called(looks_at_none, 3), called(only_begins, 5), called(adds, 7));
  std::printf("%d %d\n", unknown(2, 9, 1.5), only_begins(3));
  return 0;
}
