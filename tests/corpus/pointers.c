// Pointers to functions, tables of them, callbacks, recursion, opaque types.
// RUN: %S/compile %plugin %s
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef double (*function)(double);
struct opaque;
extern struct opaque *make(void) __attribute__((weak));
extern char start_of_something[] __attribute__((weak));
extern void external_void_object __attribute__((weak));
static double twice(double x) { return 2 * x; }
static double half(double x) { return x / 2; }
static const struct {
  const char *name;
  function call;
  struct {
    function *more;
  } rest;
} table[] = {{"twice", twice, {(function[]){half, 0}}}, {"half", half, {0}}};
static function chosen = twice;
static int even(int n);
static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
static int even(int n) { return n == 0 ? 1 : odd(n - 1); }
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static function *volatile hidden = &chosen;
int (*(*returns(int n))[2])(int) {
  static int (*pair[2])(int) = {odd, even};
  return n ? &pair : 0;
}

int main(void) {
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < 30; i++) {
    int small[5] = {i, 3, 2, 9, 1};
    qsort(small, 5, sizeof(int), compare);
    s += table[i & 1].call(i) + chosen(i) + small[4] + even(i % 5) + (*hidden)(i) + (*returns(1))[i & 1](3);
    if (make && make() == (struct opaque *)start_of_something)
      s++;
    if (!strcmp(table[i & 1].name, "half"))
      s += (size_t)&external_void_object ? 1 : 0;
  }
  printf("%g\n", s);
  return 0;
}
