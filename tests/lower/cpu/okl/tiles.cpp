// Loops with @tile run each of their iterations once, and no other, in whatever way they count.
// RUN: for level in -O0 "-O2 -g -march=native"; do clang++-22 -fopenmp -std=c++17 -Wno-sign-compare $level -fpass-plugin=%plugin %s -L%runtime-dir -lokl_cpu -Wl,-rpath,%runtime-dir -o %t && OMP_NUM_THREADS=1 %t || exit 1; done | FileCheck %s
#include "okl.h"
#include "random.h"

#include <cstddef>
#include <cstdio>
#include <limits>
#include <vector>

static int wrong, compared;

using Seen = std::vector<long long>;
__attribute__((noinline)) static void see(Seen *seen, long long one) { seen->push_back(one); }

// What the tests of all types have in common is compiled once.
#define ONCE __attribute__((noinline)) static
ONCE Seen repeated(const Seen &all, int inner, int outer) {
  Seen more;
  for (int o = 0; o < outer; o++)
    for (long long one : all)
      more.insert(more.end(), inner, one);
  return more;
}

ONCE void compare(const char *name, const Seen &found, const Seen &expected) {
  compared++;
  if (found == expected || wrong++ > 9)
    return;
  printf("%s: %zu iterations, not %zu:", name, found.size(), expected.size());
  for (std::size_t i = 0; i < found.size() && i < 9; i++)
    printf(" %lld", found[i]);
  printf("\n");
}

// A loop in all of the ways in which tiles are written.
#define LOOPS(NAME, IS_UP, CONDITION, STEP, BY) \
  template <class T, class E, class S> struct NAME { \
    static constexpr const char *name = #NAME; \
    static constexpr bool is_up = IS_UP; \
    static long by(S s) { return BY; } \
    static bool is_inside(T i, E end) { return CONDITION; } \
    KERNEL_OF_TYPES static void sized(T first, E end, S s, int size, Seen *seen) { \
      for (TILE(0, "outer", "inner", 1) T i = SIZED(size, first); CONDITION; STEP) \
        see(seen, i); \
    } \
    KERNEL_OF_TYPES static void constant(T first, E end, S s, Seen *seen) { \
      for (TILE(7, "outer", "inner", 1) T i = first; CONDITION; STEP) { \
        if (i & 1) { \
          see(seen, i); \
          continue; \
        } \
        see(seen, i); \
      } \
    } \
    KERNEL_OF_TYPES static void blocks(T first, E end, S s, int size, Seen *seen) { \
      for (TILE(0, "outer", "regular", 1) T i = SIZED(size + 1, first); CONDITION; STEP) \
        for (INNER int j = 0; j < 2; j++) \
          see(seen, i); \
    } \
    KERNEL_OF_TYPES static void outers(T first, E end, S s, Seen *seen) { \
      for (TILE(5, "outer", "outer", 1) T i = first; CONDITION; STEP) \
        for (INNER int j = 0; j < 2; j++) \
          see(seen, i); \
    } \
    KERNEL_OF_TYPES static void inners(T first, E end, S s, Seen *seen) { \
      for (OUTER int o = 0; o < 2; o++) \
        for (TILE(5, "inner", "inner", 1) T i = first; CONDITION; STEP) \
          see(seen, i); \
    } \
    KERNEL_OF_TYPES static void items(T first, E end, S s, int size, Seen *seen) { \
      for (OUTER int o = 0; o < 2; o++) \
        for (TILE(0, "inner", "regular", 1) T i = SIZED(size, first); CONDITION; STEP) \
          see(seen, i); \
    } \
    KERNEL_OF_TYPES static void plain(T first, E end, S s, Seen *seen) { \
      for (OUTER int o = 0; o < 2; o++) \
        for (TILE(3, "regular", "regular", 1) T i = first; CONDITION; STEP) \
          for (INNER int j = 0; j < 1; j++) \
            see(seen, i); \
    } \
    KERNEL_OF_TYPES static void regular(T first, E end, S s, Seen *seen) { \
      for (OUTER int o = 0; o < 2; o++) \
        for (TILE(3, "regular", "inner", 1) T i = first; CONDITION; STEP) \
          see(seen, i); \
    } \
    KERNEL_OF_TYPES static void unchecked(T first, E end, S s, int size, Seen *seen) { \
      for (TILE(0, "outer", "inner", 0) T i = SIZED(size, first); CONDITION; STEP) \
        see(seen, i); \
    } \
  };
LOOPS(Less, true, i < end, ++i, 1)
LOOPS(LessOrEqual, true, i <= end, i += s, s)
LOOPS(Greater, true, end > i, i += 3, 3)
LOOPS(GreaterOrEqual, true, end >= i, i++, 1)
LOOPS(LessBySome, true, i < end, i += s, s)
LOOPS(Down, false, i > end, --i, 1)
LOOPS(DownToEnd, false, i >= end, i -= s, s)
LOOPS(DownByThree, false, end < i, i -= 3, 3)
LOOPS(DownToLast, false, end <= i, i--, 1)
LOOPS(DownByMinus, false, i > end, i += -2, 2)

struct Type {
  __int128 least, last;
  template <class T> static Type of() { return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()}; }
};

// Of a loop that counts in a type to an end of another one: near the ends of the type, near 0, or anywhere.
ONCE bool some_ends(int turn, bool is_up, Type type, Type of_end, long *s, __int128 *first, __int128 *end) {
  *s = any(1, 5);
  const long most = type.last < std::numeric_limits<long>::max() ? long(type.last) : std::numeric_limits<long>::max();
  *first = turn % 4 == 0 ? type.least + any(0, 60) : turn % 4 == 1 ? most - any(0, 60) : turn % 4 == 2 ? any(0, 60) : type.least / 2 + any(0, 1000);
  if (type.last > std::numeric_limits<long>::max() && turn % 8 == 1)
    *first += (__int128)1 << 63;
  *end = *first + (is_up ? 1 : -1) * any(-3, 60);
  *first = *first < type.least ? type.least : *first > type.last ? type.last : *first;
  *end = *end < type.least ? type.least : *end > type.last ? type.last : *end;
  return *end >= of_end.least && *end <= of_end.last;
}

template <template <class, class, class> class Loops, class T, class E, class S, bool is_whole> static void test_loop() {
  using L = Loops<T, E, S>;
  for (int turn = 0; turn < 60; turn++) {
    __int128 first, end;
    long s;
    if (!some_ends(turn, L::is_up, Type::of<T>(), Type::of<E>(), &s, &first, &end))
      continue;
    const long by = L::by(s);
    const __int128 least = std::numeric_limits<T>::min(), last = std::numeric_limits<T>::max();
    Seen expected;
    __int128 value = first;
    while (value >= least && value <= last && L::is_inside(T(value), E(end))) {
      see(&expected, T(value));
      value += L::is_up ? by : -by;
    }
    int size = any(1, 20);
    Seen seen;
    auto check = [&](const Seen &expected) {
      compare(L::name, seen, expected);
      seen.clear();
    };
    if (turn / 4 % 2) {
      L::sized(first, end, s, size, &seen), check(expected);
      continue;
    }
    L::constant(first, end, s, &seen), check(expected);
    // What is not about types.
    if constexpr (is_whole) {
      const Seen twice = repeated(expected, 2, 1), again = repeated(expected, 1, 2);
      L::blocks(first, end, s, size, &seen), check(twice);
      L::outers(first, end, s, &seen), check(twice);
      L::inners(first, end, s, &seen), check(again);
      L::items(first, end, s, size, &seen), check(again);
      L::regular(first, end, s, &seen), check(again);
      if (value >= least && value <= last) // A plain loop is not for an iterator that is too small.
        L::plain(first, end, s, &seen), check(again);
      size = any(1, 6);
      while (expected.size() % size)
        size--;
      L::unchecked(first, end, s, size, &seen), check(expected);
    }
  }
}

template <class T, class E, class S, bool is_whole = false> static void test_types() {
  test_loop<Less, T, E, S, is_whole>();
  test_loop<LessOrEqual, T, E, S, is_whole>();
  test_loop<Greater, T, E, S, is_whole>();
  test_loop<GreaterOrEqual, T, E, S, is_whole>();
  test_loop<LessBySome, T, E, S, is_whole>();
  test_loop<Down, T, E, S, is_whole>();
  test_loop<DownToEnd, T, E, S, is_whole>();
  test_loop<DownByThree, T, E, S, is_whole>();
  test_loop<DownToLast, T, E, S, is_whole>();
  test_loop<DownByMinus, T, E, S, is_whole>();
}
// CHECK: loops: right
static void test_loops() {
  test_types<signed char, int, int>();
  test_types<unsigned char, unsigned char, int, true>();
  test_types<short, short, short>();
  test_types<unsigned short, long, unsigned char>();
  test_types<int, int, int, true>();
  test_types<int, unsigned, int>();
  test_types<long, int, int>();
  test_types<unsigned, unsigned, unsigned>();
  test_types<unsigned, long, int>();
  test_types<long, long, long>();
  test_types<std::size_t, std::size_t, std::size_t>();
  if (compared > 5000 && !wrong)
    printf("loops: right\n");
}

int main() {
  test_loops();
  return wrong != 0;
}
