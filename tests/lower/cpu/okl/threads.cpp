// Threads share blocks, each of which runs once, in whatever way loops count; what is atomic is.
// RUN: clang++-22 -std=c++17 -O0 -c -g -fpass-plugin=%plugin %s -o %t.o && clang++-22 -fopenmp %t.o -L%runtime-dir -lokl_cpu -Wl,-rpath,%runtime-dir -o %t0
// RUN: clang++-22 -std=c++17 -O1 -fopenmp -DLOCKED -fpass-plugin=%plugin %s -L%runtime-dir -lokl_cpu -Wl,-rpath,%runtime-dir -o %t1
// RUN: clang++-22 -std=c++17 -O3 -march=native -fno-exceptions -fopenmp -fpass-plugin=%plugin %s -L%runtime-dir -lokl_cpu -Wl,-rpath,%runtime-dir -o %t3
//
// A run begins more than a thousand regions. With other programs on the cores each waits until the last of its threads has
// been on one, which takes longer the more there are: threads that wait must not spin, and there are no more than it takes. Of
// all loops several threads run those of a third at each level.
// RUN: for threads in 1 2 3; do for level in 0 1 3; do OMP_WAIT_POLICY=passive OMP_NUM_THREADS=$threads %t$level $threads $level || exit 1; done; done
#include "okl.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <thread>
#include <vector>

extern "C" int omp_get_thread_num();
extern "C" int omp_in_parallel();

static int wrong;
static void check(bool is_right, const char *what) {
  if (!is_right) {
    wrong++;
    printf("wrong: %s\n", what);
  }
}

// Who runs what.
static int who(int) { return omp_get_thread_num(); }
KERNEL void take_part(int n, int *threads, int *times) {
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 4; ++i) {
      threads[o] = who(o);
      ATOMIC(times[o] += 1);
    }
}
static void test_take_part(int threads) {
  std::vector<int> by(64), times(64);
  take_part(64, by.data(), times.data());
  check(std::set<int>(by.begin(), by.end()).size() == unsigned(threads), "not all threads take part");
  for (int one : times)
    check(one == 4, "a block runs not once");
  // One block is not worth a team.
  std::vector<int> one(1, -1);
  take_part(1, one.data(), times.data());
  check(one[0] == 0, "one block runs on another thread");
}

// The third of them that is run, or all.
static int part = -1, turn;

// Loops of all forms against the same loops in plain C++: the numbers, and how often each comes.
#define FORM(name, type, relation, step)                                                                     \
  KERNEL void name(type from, type to, type by, int *times) {                                               \
    for (OUTER type o = from; o relation to; o step by)                                                     \
      for (INNER int i = 0; i < 1; ++i)                                                                     \
        ATOMIC(times[(int)o + 40000] += 1);                                                                 \
  }                                                                                                         \
  static void test_##name() {                                                                               \
    std::vector<int> times(80001), expected(80001);                                                         \
    for (int from : {0, 7, 120})                                                                            \
      for (int to : {0, 7, 90, 119, 120})                                                                   \
        for (int by : {1, 3, 7})                                                                            \
          for (int sign : {1, -1}) {                                                                        \
            if (sign < 0 && type(-1) > type(0))                                                             \
              continue;                                                                                     \
            type begin = sign * from, end = sign * to;                                                      \
            if (type(-1) > type(0) && #step[0] == '-' && end < by)                                          \
              continue;                                                                                     \
            if (part >= 0 && turn++ % 3 != part)                                                            \
              continue;                                                                                     \
            name(begin, end, by, times.data());                                                             \
            for (type o = begin; o relation end; o step by)                                                 \
              expected[(int)o + 40000] += 1;                                                                \
          }                                                                                                 \
    check(times == expected, #name);                                                                        \
  }
FORM(signed_less, int, <, +=)
FORM(signed_most, int, <=, +=)
FORM(signed_more, int, >, -=)
FORM(signed_least, int, >=, -=)
FORM(unsigned_less, unsigned, <, +=)
FORM(unsigned_most, unsigned, <=, +=)
FORM(unsigned_more, unsigned, >, -=)
FORM(unsigned_least, unsigned, >=, -=)
FORM(byte_less, std::int8_t, <, +=)
FORM(byte_least, std::int8_t, >=, -=)
FORM(octet_most, std::uint8_t, <=, +=)
FORM(octet_more, std::uint8_t, >, -=)
FORM(short_less, short, <, +=)
FORM(word_most, std::uint16_t, <=, +=)
FORM(long_more, long, >, -=)
FORM(size_less, std::size_t, <, +=)
FORM(size_least, std::size_t, >=, -=)

// The ends of what integers can be.
KERNEL void ends(const int *least, const int *most, unsigned *counts) {
  for (OUTER int o = *least; o < *most; o += 1 << 30)
    for (INNER int i = 0; i < 1; ++i)
      ATOMIC(counts[0]++);
  for (OUTER unsigned o = 5; o <= 4000000000u; o += 1000000000u)
    for (INNER int i = 0; i < 1; ++i)
      ATOMIC(counts[1]++);
  for (OUTER std::int64_t o = INT64_MAX; o > INT64_MIN / 2; o -= std::int64_t(1) << 61)
    for (INNER int i = 0; i < 1; ++i)
      ATOMIC(counts[2]++);
}
static void test_ends() {
  int least = INT32_MIN, most = INT32_MAX - (1 << 30);
  unsigned counts[3] = {}, expected[3] = {};
  ends(&least, &most, counts);
  for (std::int64_t o = least; o < most; o += 1 << 30)
    expected[0]++;
  for (std::int64_t o = 5; o <= 4000000000; o += 1000000000)
    expected[1]++;
  for (std::int64_t o = INT64_MAX; o > INT64_MIN / 2; o -= std::int64_t(1) << 61)
    expected[2]++;
  for (int i = 0; i < 3; i++)
    check(counts[i] == expected[i], "ends");
}

// Three loops counted through as one, with a type each; without iterations of one there are none.
KERNEL void three(long n, short m, int by, int *times) {
  for (OUTER long z = n; z > 0; --z)
    for (OUTER short y = 1; y <= m; y += by)
      for (OUTER unsigned x = 3; x < 11; x += 2)
        for (INNER int i = 0; i < 2; ++i)
          ATOMIC(times[(z * 20 + y) * 11 + x] += i + 1);
}
// Of these the inner one counts otherwise each time.
KERNEL void triangle(int n, int *times) {
  for (OUTER int y = 0; y < n; ++y)
    for (OUTER int x = y; x < n; ++x)
      for (INNER int i = 0; i < 1; ++i)
        ATOMIC(times[y * n + x]++);
}
// Something stands between these.
KERNEL void between(int n, int *times) {
  for (OUTER int y = 0; y < n; ++y) {
    int row = y * n;
    for (OUTER int x = 0; x < n; ++x)
      for (INNER int i = 0; i < 1; ++i)
        ATOMIC(times[row + x]++);
  }
}
// What the inner one counts must not be looked at where there is no outer one.
KERNEL void careful(int n, int by, const int *m, int *times) {
  for (OUTER int y = 0; y < n; ++y)
    for (OUTER int x = 0; x < *m; ++x)
      for (INNER int i = 0; i < 1; ++i)
        ATOMIC(times[0]++);
  for (OUTER int y = 0; y < n; ++y)
    for (OUTER int x = 0; x < n / by; ++x)
      for (INNER int i = 0; i < 1; ++i)
        ATOMIC(times[0]++);
}
static void test_nests() {
  for (long n : {0, 1, 5})
    for (short m : {-3, 0, 1, 8}) {
      std::vector<int> times(6 * 20 * 11), expected(times);
      three(n, m, 3, times.data());
      for (long z = n; z > 0; --z)
        for (short y = 1; y <= m; y += 3)
          for (unsigned x = 3; x < 11; x += 2)
            expected[(z * 20 + y) * 11 + x] += 3;
      check(times == expected, "three");
    }
  const int n = 9;
  std::vector<int> times(n * n), all(n * n, 1), upper(n * n);
  triangle(n, times.data());
  for (int y = 0; y < n; y++)
    for (int x = y; x < n; x++)
      upper[y * n + x] = 1;
  check(times == upper, "triangle");
  times.assign(n * n, 0);
  between(n, times.data());
  check(times == all, "between");
  int m = 3, count = 0;
  careful(0, 0, nullptr, &count);
  check(count == 0, "careful with nothing");
  careful(4, 2, &m, &count);
  check(count == 20, "careful");
}

// What a block has for itself.
struct Row {
  float values[6];
  int length;
};
KERNEL void own(int n, float scale, const float *a, float *b) {
  for (OUTER int o = 0; o < n; ++o) {
    SHARED float s[6];
    EXCLUSIVE float mine;
    int first = o * 6;
    Row row = {{scale, 1, 2, 3, 4, 5}, 6};
    float factors[2] = {scale, float(o)};
    float &factor = factors[1];
    for (INNER int i = 0; i < 6; ++i) {
      s[i] = a[first + i] * row.values[i];
      mine = s[i] + factor;
    }
    for (int k = 0; k < 3; ++k)
      for (INNER int i = 0; i < 6; ++i)
        mine += s[5 - i] * factors[0] + row.length;
    for (INNER int i = 0; i < 6; ++i)
      b[first + i] = mine;
  }
}
static void test_own() {
  const int n = 101;
  std::vector<float> a(n * 6), b(n * 6), expected(n * 6);
  for (int i = 0; i < n * 6; i++)
    a[i] = i % 37;
  for (int i = 0; i < n * 6; i++) {
    float values[6] = {2, 1, 2, 3, 4, 5};
    int o = i / 6, k = i % 6;
    float mine = a[i] * values[k] + o;
    for (int j = 0; j < 3; j++)
      mine += a[o * 6 + 5 - k] * values[5 - k] * 2 + 6;
    expected[i] = mine;
  }
  own(n, 2, a.data(), b.data());
  check(b == expected, "own");
}

// Skips and exceptions in a block, and blocks that end the program, which these do not.
static int may_throw(int i) {
#ifdef __cpp_exceptions
  if (i % 3 == 0)
    throw i;
#endif
  return i;
}
static int tried(int i) {
#ifdef __cpp_exceptions
  try {
    return may_throw(i);
  } catch (int) {
    return 0;
  }
#else
  return i % 3 == 0 ? 0 : i;
#endif
}
KERNEL void skips(int n, int *a) {
  for (OUTER int o = 0; o < n; ++o) {
    if (o % 4 == 1)
      continue;
    if (o < 0)
      abort();
    for (INNER int i = 0; i < 2; ++i) {
      if (i == 1 && o % 2)
        continue;
      switch (o % 3) {
      case 0: a[o * 2 + i] = 7; break;
      default: a[o * 2 + i] = tried(o);
      }
    }
  }
}
static void test_skips() {
  std::vector<int> a(80, -1), expected(80, -1);
  skips(40, a.data());
  for (int o = 0; o < 40; o++)
    for (int i = 0; i < 2; i++)
      if (o % 4 != 1 && !(i == 1 && o % 2))
        expected[o * 2 + i] = o % 3 ? o : 7;
  check(a == expected, "skips");
}

// Loops round nests, and several nests, templates.
template <typename T, int size> __attribute__((annotate("okl.kernel"))) void twice(int steps, int n, T *a, T *b) {
  T total = 0;
  for (int step = 0; step < steps; ++step) {
    T add = step + total;
    for (OUTER int o = 0; o < n; o += size)
      for (INNER int i = 0; i < size; ++i)
        b[o + i] = a[o + i] + add;
    for (OUTER int o = n - size; o >= 0; o -= size)
      for (INNER int i = 0; i < size; ++i)
        a[o + i] = b[o + i] * 2;
    total += 1;
  }
}
template <typename T, int size> static void test_twice() {
  const int n = 12 * size;
  std::vector<T> a(n, 1), b(n);
  twice<T, size>(3, n, a.data(), b.data());
  check(a == std::vector<T>(n, 24) && b == std::vector<T>(n, 12), "twice");
}

// Every operation, whose results do not depend on the order.
struct Fields {
  char pad;
  short narrow;
  unsigned char small : 5, other : 3;
  double wide;
};
KERNEL void atomics(int n, int *ints, unsigned *unsigneds, float *floats, double *doubles, Fields *fields, int *olds) {
  for (OUTER int o = 0; o < n; ++o)
    for (INNER int i = 0; i < 4; ++i) {
      int old;
      ATOMIC(old = ints[0]++);
      olds[o * 4 + i] = old;
      ATOMIC(--ints[1]);
      ATOMIC(ints[2] -= 3);
      ATOMIC(ints[3] ^= 1 << o % 30);
      ATOMIC(ints[4] |= 1 << o % 30);
      ATOMIC(ints[5] = ints[5] + 2);
      ATOMIC(ints[6] = 5);
      ATOMIC(ints[7] = 4 + ints[7]);
      ATOMIC(unsigneds[0] *= 3);
      ATOMIC(unsigneds[1] &= ~(1u << o % 32));
      ATOMIC(unsigneds[2] += o);
      ATOMIC(unsigneds[3] = (unsigneds[3] << 1 | unsigneds[3] >> 31));
      ATOMIC(floats[0] += 1);
      ATOMIC(floats[i] -= o * 2.0f);
      ATOMIC(doubles[0] += 0.5);
#ifdef LOCKED
      // One of these, and all of the file are under a lock.
      ATOMIC(doubles[1] = doubles[1] > o ? doubles[1] : o);
      __okl_atomic_begin(1);
      if (ints[11] == 2 * ints[12])
        ints[11] += 2, ints[12] += 1;
      __okl_atomic_end();
#else
      ATOMIC(doubles[1] = __builtin_fmax(doubles[1], o));
#endif
      ATOMIC(fields->narrow += 1);
      ATOMIC(fields->small += 3);
      ATOMIC(fields->other ^= 1);
      ATOMIC(fields->wide -= 2);
      int now;
      ATOMIC(now = (ints[8] += 2));
      ATOMIC(ints[9] += now % 2);
      int read;
      ATOMIC(read = ints[6]);
      ATOMIC(ints[10] += read == 0 || read == 5);
    }
}
static void test_atomics() {
  const int n = 2000, all = n * 4;
  int ints[13] = {};
  unsigned unsigneds[4] = {1, ~0u, 0, 0x80000001};
  float floats[4] = {};
  double doubles[2] = {};
  Fields fields = {};
  std::vector<int> olds(all);
  atomics(n, ints, unsigneds, floats, doubles, &fields, olds.data());
  check(std::set<int>(olds.begin(), olds.end()).size() == all, "old values");
  unsigned product = 1, bits = ~0u, sum = 0, turned = 0x80000001;
  for (int i = 0; i < all; i++)
    product *= 3, bits &= ~(1u << i / 4 % 32), sum += i / 4, turned = turned << 1 | turned >> 31;
  check(ints[0] == all && ints[1] == -all && ints[2] == -3 * all && ints[3] == 0 && ints[4] == (1 << 30) - 1, "ints");
  check(ints[5] == 2 * all && ints[6] == 5 && ints[7] == 4 * all && ints[8] == 2 * all, "sums");
  check(ints[9] == 0 && ints[10] == all, "reads");
#ifdef LOCKED
  check(ints[11] == 2 * all && ints[12] == all, "a block");
#endif
  check(unsigneds[0] == product && unsigneds[1] == bits && unsigneds[2] == sum && unsigneds[3] == turned, "unsigneds");
  float even = -2.0f * (n - 1) * n / 2;
  check(floats[0] == even + all && floats[1] == even && floats[3] == even, "floats");
  check(doubles[0] == all / 2 && doubles[1] == n - 1, "doubles");
  check(fields.narrow == all && fields.small == 3 * all % 32 && fields.other == 0 && fields.wide == -2 * all, "fields");
}

// On both sides of a barrier in an inner loop.
KERNEL void meets(int n, unsigned *products, int *sums) {
  for (OUTER int o = 0; o < n; ++o) {
    SHARED int s[8];
    for (INNER int i = 0; i < 8; ++i) {
      int own = o + i;
      ATOMIC(products[i] *= 2 * i + 3);
      ATOMIC(s[i] = own);
      BARRIER;
      ATOMIC(sums[i] += s[7 - i] + own);
      ATOMIC(products[7 - i] *= 2 * i + 5);
    }
  }
}
static void test_meets() {
  const int n = 3000;
  unsigned products[8], expected[8];
  int sums[8] = {};
  for (int i = 0; i < 8; i++)
    products[i] = expected[i] = 1;
  meets(n, products, sums);
  for (int i = 0; i < 8; i++) {
    for (int o = 0; o < n; o++)
      expected[i] *= (2 * i + 3) * (2 * (7 - i) + 5);
    check(products[i] == expected[i] && sums[i] == n * (n - 1) + 7 * n, "meets");
  }
}

// In teams, and from several threads at once.
static void test_teams() {
  std::vector<std::thread> threads;
  std::vector<int> counts(64);
  for (int t = 0; t < 3; t++)
    threads.emplace_back([&] {
      std::vector<int> by(64);
      take_part(64, by.data(), counts.data());
    });
  for (auto &one : threads)
    one.join();
#ifdef _OPENMP
#pragma omp parallel num_threads(3)
  {
    std::vector<int> by(64);
    take_part(64, by.data(), counts.data());
  }
  int all = 24;
#else
  int all = 12;
#endif
  (void)omp_in_parallel();
#ifdef _OPENMP
  int members = 0;
#pragma omp parallel num_threads(3)
#pragma omp atomic
  members++;
  all = 12 + 4 * members;
#endif
  for (int one : counts)
    check(one == all, "teams");
}

int main(int, char **argv) {
  const int threads = atoi(argv[1]), level = atoi(argv[2]);
  if (threads > 1)
    part = level == 3 ? 2 : level;
  test_take_part(threads);
  test_signed_less(), test_signed_most(), test_signed_more(), test_signed_least();
  test_unsigned_less(), test_unsigned_most(), test_unsigned_more(), test_unsigned_least();
  test_byte_less(), test_byte_least(), test_octet_most(), test_octet_more(), test_short_less(), test_word_most();
  test_long_more(), test_size_less(), test_size_least();
  test_ends(), test_nests(), test_own(), test_skips(), test_atomics(), test_meets(), test_teams();
  test_twice<float, 4>(), test_twice<long, 3>();
  return wrong > 0;
}
