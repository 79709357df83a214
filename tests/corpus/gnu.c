// Extensions of GNU C.
// RUN: %S/compile %plugin %s -std=gnu17
#include <stdio.h>
#include <stdlib.h>

struct empty {};
struct zero {
  int n;
  int rest[0];
};
union overlap {
  struct {
    unsigned low : 7, : 0, high : 9;
  };
  long whole;
} __attribute__((transparent_union));
typedef int packed_int __attribute__((aligned(1), may_alias));
struct __attribute__((packed)) odd {
  char c;
  double d;
  short s;
};

static int table[] = {[0 ... 9] = 3, [4] = 7, [12] = 1};

static void release(int **p) { free(*p); }

static int computed(int n) {
  static const void *const targets[] = {&&one, &&two, &&three};
  static const int distances[] = {&&one - &&one, &&two - &&one, &&three - &&one};
  int s = 0;
  goto *targets[n % 3];
one:
  s += 1;
two:
  s += 2;
  if (s > 100)
    goto *(&&one + distances[1]);
three:
  return s + 4;
}

static int labels_of_its_own(int n) {
  __label__ out;
  int s = ({
    int t = 0;
    for (int i = 0; i < n; i++) {
      if (i == 5)
        goto out;
      t += i;
    }
    t;
  });
  return s;
out:
  return -1;
}

static __attribute__((const)) int pick(int x) {
  switch (x) {
  case 0 ... 3: return 1;
  case 4: __attribute__((fallthrough));
  case 5: return __builtin_choose_expr(sizeof(int) == 4, 2, "two");
  default: return x ?: 9;
  }
}

static __auto_type pi = 3.25;
static int many(int n, ...) {
  __builtin_va_list list, copy;
  __builtin_va_start(list, n);
  __builtin_va_copy(copy, list);
  int s = 0;
  while (n--)
    s += __builtin_va_arg(copy, int) + (int)__builtin_va_arg(copy, double);
  __builtin_va_end(copy);
  __builtin_va_end(list);
  return s;
}

int main(void) {
  int s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < 60; i++) {
    __attribute__((cleanup(release))) int *p = malloc(4);
    *p = i;
    struct odd o = {1, i, 2};
    struct empty e, f = e;
    int u[3] = {i, 1, 2};
    *(packed_int *)((char *)u + 1) += 1;
    typeof(s) m = ({ __auto_type a = *p; a > 3 ? a : 3; });
    s += m + computed(i) + labels_of_its_own(i % 9) + pick(i) + table[i % 13] + o.d + many(2, 1, 2.0, 3, 4.0) + u[0];
    if (__builtin_expect(i > 1000, 0))
      __builtin_unreachable();
    int wide;
    if (__builtin_add_overflow(s, m, &wide))
      __builtin_trap();
    __builtin_prefetch(&table[i % 13]);
    s += __builtin_popcount(i) + __builtin_clz(i | 1) + (int)__builtin_object_size(u, 0);
    (void)f;
  }
  printf("%d %g %p\n", s, pi, __builtin_return_address(0) ? (void *)0 : (void *)1);
  return 0;
}
