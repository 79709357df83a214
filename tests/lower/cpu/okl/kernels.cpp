// Kernels compute what plainly written loops do, at every level of optimisation.
// RUN: for level in -O0 "-O2 -g" "-O3 -march=native"; do clang++-22 -std=c++17 $level -fopenmp -fpass-plugin=%plugin %s -L%runtime-dir -lokl_cpu -Wl,-rpath,%runtime-dir -o %t || exit 1; for threads in 1 2 5; do OMP_NUM_THREADS=$threads %t || exit 1; done; done | FileCheck %s
#include "okl.h"

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <vector>

using Data = std::vector<float>;

static int wrong;

static Data numbers(int n) {
  Data data(n);
  for (int i = 0; i < n; i++)
    data[i] = (i * 7919 % 1009) * 0.25f - 100;
  return data;
}

static void compare(const char *name, const Data &found, const Data &expected) {
  for (std::size_t i = 0; i < expected.size(); i++)
    if (!(found[i] == expected[i])) {
      wrong++;
      printf("%s: wrong at %zu: %g, not %g\n", name, i, found[i], expected[i]);
      return;
    }
  printf("%s: right\n", name);
}

// Vector add, whose blocks may be too large.
KERNEL void add(int n, const float *a, const float *b, float *ab) {
  for (OUTER int o = 0; o < n; o += 16)
    for (INNER int i = o; i < o + 16; ++i)
      if (i < n)
        ab[i] = a[i] + b[i];
}
// CHECK: add: right
static void test_add() {
  const int n = 1003;
  Data a = numbers(n), b(n, 3), ab(n), expected(n);
  for (int i = 0; i < n; i++)
    expected[i] = a[i] + b[i];
  add(n, a.data(), b.data(), ab.data());
  compare("add", ab, expected);
}

// Shared memory between nests, and what each work item keeps; blocks of two directions.
KERNEL void stencil(int n, const float *a, float *b) {
  for (OUTER int y = 0; y < n; y += 8) {
    for (OUTER int x = 0; x < n; x += 8) {
      SHARED float s[10][10];
      EXCLUSIVE float own;
      EXCLUSIVE int where[2];
      for (INNER int j = 0; j < 10; ++j)
        for (INNER int i = 0; i < 10; ++i) {
          int v = (y + j - 1 + n) % n, u = (x + i - 1 + n) % n;
          s[j][i] = own = a[v * n + u];
          where[0] = u;
          where[1] = v;
        }
      for (INNER int j = 0; j < 10; ++j)
        for (INNER int i = 0; i < 10; ++i)
          if (i > 0 && i < 9 && j > 0 && j < 9)
            b[where[1] * n + where[0]] = s[j - 1][i] + s[j + 1][i] + s[j][i - 1] + s[j][i + 1] - 4 * own;
    }
  }
}
// CHECK: stencil: right
static void test_stencil() {
  const int n = 32;
  Data a = numbers(n * n), b(n * n), expected(n * n);
  auto at = [&](int v, int u) { return a[(v + n) % n * n + (u + n) % n]; };
  for (int v = 0; v < n; v++)
    for (int u = 0; u < n; u++)
      expected[v * n + u] = at(v - 1, u) + at(v + 1, u) + at(v, u - 1) + at(v, u + 1) - 4 * at(v, u);
  stencil(n, a.data(), b.data());
  compare("stencil", b, expected);
}

// A tree in shared memory: a loop round an inner nest.
KERNEL void reduce(int n, const float *a, float *sums) {
  for (OUTER int block = 0; block < n; ++block) {
    SHARED float s[64];
    for (INNER int i = 0; i < 64; ++i)
      s[i] = a[block * 64 + i];
    for (int alive = 32; alive > 0; alive /= 2) {
      for (INNER int i = 0; i < 64; ++i)
        if (i < alive)
          s[i] += s[i + alive];
      BARRIER;
    }
    for (INNER int i = 0; i < 64; ++i)
      if (i == 0)
        sums[block] = s[0];
  }
}
// CHECK: reduce: right
static void test_reduce() {
  const int n = 9;
  Data a = numbers(n * 64), sums(n), expected(n);
  for (int i = 0; i < n * 64; i++)
    expected[i / 64] += a[i];
  reduce(n, a.data(), sums.data());
  compare("reduce", sums, expected);
}

// Tiled matrix multiply: a work item adds up in a loop.
KERNEL void multiply(int n, const float *a, const float *b, float *c) {
  for (OUTER int y = 0; y < n; y += 4)
    for (OUTER int x = 0; x < n; x += 4) {
      SHARED float as[4][4], bs[4][4];
      EXCLUSIVE float sum = 0;
      for (int k = 0; k < n; k += 4) {
        for (INNER int j = 0; j < 4; ++j)
          for (INNER int i = 0; i < 4; ++i) {
            as[j][i] = a[(y + j) * n + k + i];
            bs[j][i] = b[(k + j) * n + x + i];
          }
        for (INNER int j = 0; j < 4; ++j)
          for (INNER int i = 0; i < 4; ++i)
            for (int l = 0; l < 4; ++l)
              sum += as[j][l] * bs[l][i];
      }
      for (INNER int j = 0; j < 4; ++j)
        for (INNER int i = 0; i < 4; ++i)
          c[(y + j) * n + x + i] = sum;
    }
}
// CHECK: multiply: right
static void test_multiply() {
  const int n = 20;
  Data a(n * n), b(n * n), c(n * n), expected(n * n);
  for (int i = 0; i < n * n; i++)
    a[i] = i % 17 - 8, b[i] = i % 13 - 6;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        expected[i * n + j] += a[i * n + k] * b[k * n + j];
  multiply(n, a.data(), b.data(), c.data());
  compare("multiply", c, expected);
}

// A barrier in an inner nest of two directions.
KERNEL void transpose(int n, const float *a, float *b) {
  for (OUTER int y = 0; y < n; y += 8)
    for (OUTER int x = 0; x < n; x += 8) {
      SHARED float s[8][9];
      for (INNER int j = 0; j < 8; ++j)
        for (INNER int i = 0; i < 8; ++i) {
          s[j][i] = a[(y + j) * n + x + i];
          BARRIER;
          b[(x + j) * n + y + i] = s[i][j];
        }
    }
}
// CHECK: transpose: right
static void test_transpose() {
  const int n = 24;
  Data a = numbers(n * n), b(n * n), expected(n * n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      expected[j * n + i] = a[i * n + j];
  transpose(n, a.data(), b.data());
  compare("transpose", b, expected);
}

// Two buffers, and a loop that says which is which.
KERNEL void scan(int n, const float *a, float *sums) {
  for (OUTER int o = 0; o < n; o += 32) {
    SHARED float s[2][32];
    EXCLUSIVE int from = 0;
    for (INNER int i = 0; i < 32; ++i)
      s[0][i] = a[o + i];
    for (int by = 1; by < 32; by *= 2)
      for (INNER int i = 0; i < 32; ++i) {
        s[1 - from][i] = i >= by ? s[from][i] + s[from][i - by] : s[from][i];
        from = 1 - from;
      }
    for (INNER int i = 0; i < 32; ++i)
      sums[o + i] = s[from][i];
  }
}
// CHECK: scan: right
static void test_scan() {
  const int n = 96;
  Data a = numbers(n), sums(n), expected(n);
  for (int i = 0; i < n; i++)
    expected[i] = a[i] + (i % 32 ? expected[i - 1] : 0);
  scan(n, a.data(), sums.data());
  compare("scan", sums, expected);
}

KERNEL void histogram(int n, const int *a, int *counts, float *most) {
  for (OUTER int o = 0; o < n; o += 16)
    for (INNER int i = 0; i < 16; ++i) {
      ATOMIC(counts[a[o + i]] += 1);
      __okl_atomic_begin(1);
      if (*most < a[o + i])
        *most = a[o + i];
      __okl_atomic_end();
    }
}
// CHECK: histogram: right
static void test_histogram() {
  const int n = 160;
  std::vector<int> a(n), counts(8);
  float most = -1;
  Data expected(9);
  for (int i = 0; i < n; i++)
    a[i] = i * i % 8, expected[a[i]] += 1, expected[8] = std::fmax(expected[8], a[i]);
  histogram(n, a.data(), counts.data(), &most);
  Data found(counts.begin(), counts.end());
  found.push_back(most);
  compare("histogram", found, expected);
}

// Nests of different sizes side by side: a work item is the same in both.
KERNEL void siblings(float *a, float *b) {
  for (OUTER int o = 0; o < 3; ++o) {
    EXCLUSIVE float own = 5;
    for (INNER int j = 0; j < 2; ++j)
      for (INNER int i = 0; i < 4; ++i)
        own = 10 * j + i;
    for (INNER int j = 0; j < 3; ++j)
      for (INNER int i = 0; i < 8; ++i)
        a[(o * 3 + j) * 8 + i] = own;
    // The other direction is the outer one.
    for (INNER_AXIS(0) int i = 0; i < 8; ++i)
      for (INNER_AXIS(1) int j = 0; j < 3; ++j)
        b[(o * 3 + j) * 8 + i] = own;
  }
}
// CHECK: siblings: right
// CHECK: turned siblings: right
static void test_siblings() {
  Data a(72), b(72), expected(72);
  for (int k = 0; k < 72; k++) {
    int i = k % 8, j = k / 8 % 3;
    expected[k] = i < 4 && j < 2 ? 10 * j + i : 5;
  }
  siblings(a.data(), b.data());
  compare("siblings", a, expected);
  compare("turned siblings", b, expected);
}

// Every form of loop, with iterators of every size.
KERNEL void forms(int n, int by, float *a) {
  for (OUTER long o = n - 1; 0 <= o; --o) {
    EXCLUSIVE int own;
    for (INNER short i = 30; i > 0; i -= 3)
      own = i;
    for (INNER unsigned char i = 210; i <= 237; i = i + 3)
      a[o * 50 + i / 3 - 70] = own;
    for (INNER std::size_t i = 10; i < 20; i++)
      a[o * 50 + i] = own;
  }
  for (OUTER int o = 0; n > o; o += by)
    for (INNER int i = 20; i < 50; i += by)
      a[o * 50 + i] = o * i;
}
// CHECK: forms: right
static void test_forms() {
  const int n = 5, by = 2;
  Data a(n * 50), expected(n * 50);
  for (int o = 0; o < n; o++)
    for (int i = 0; i < 10; i++)
      expected[o * 50 + i] = expected[o * 50 + 10 + i] = 30 - 3 * i;
  for (int o = 0; o < n; o += by)
    for (int i = 20; i < 50; i += by)
      expected[o * 50 + i] = o * i;
  forms(n, by, a.data());
  compare("forms", a, expected);
}

// A barrier after which a variable, a small array and a reference to it are still needed; and two barriers.
KERNEL void reverse(int n, const float *a, float *b) {
  for (OUTER int o = 0; o < n; o += 64) {
    SHARED float s[64];
    for (INNER int i = 0; i < 64; ++i) {
      float own = a[o + i];
      float both[2] = {own, own + 1};
      float &second = both[1];
      s[i] = own;
      BARRIER;
      float other = s[63 - i] + both[0];
      BARRIER;
      s[(i + 1) % 64] = second;
      BARRIER;
      b[o + i] = other + s[i];
    }
  }
}
// CHECK: reverse: right
static void test_reverse() {
  const int n = 192;
  Data a = numbers(n), b(n), expected(n);
  for (int i = 0; i < n; i++) {
    int o = i / 64 * 64, k = i - o;
    expected[i] = a[o + 63 - k] + a[i] + (a[o + (k + 63) % 64] + 1);
  }
  reverse(n, a.data(), b.data());
  compare("reverse", b, expected);
}

// Every work item gets what an @exclusive variable begins with, each time that the block begins.
struct Pair {
  float first, second;
};
static float scale_of(int block) { return block * 11; }
KERNEL void begins(int n, const float *a, float *b) {
  for (OUTER int o = 0; o < n; ++o) {
    EXCLUSIVE float scale = a[o] > 0 ? 2 : 3;
    EXCLUSIVE float row[3] = {1, a[o], 7};
    EXCLUSIVE Pair pair = {4, scale_of(o)};
    for (INNER int i = 0; i < 6; ++i) {
      b[(o * 2) * 6 + i] = scale + row[i % 3] + pair.second;
      scale += i;
      row[1] *= i;
    }
    for (INNER int i = 0; i < 6; ++i)
      b[(o * 2 + 1) * 6 + i] = scale + row[i % 3] + pair.first;
  }
}
// CHECK: begins: right
static void test_begins() {
  const int n = 4;
  Data a = {3, -1, 0, 8}, b(n * 12), expected(n * 12);
  for (int o = 0; o < n; o++)
    for (int i = 0; i < 6; i++) {
      float scale = a[o] > 0 ? 2 : 3, row[3] = {1, a[o], 7};
      expected[o * 12 + i] = scale + row[i % 3] + o * 11;
      row[1] *= i;
      expected[o * 12 + 6 + i] = scale + i + row[i % 3] + 4;
    }
  begins(n, a.data(), b.data());
  compare("begins", b, expected);
}

// The program loops round its blocks; so many work items there are only when it runs.
KERNEL void wave(int steps, int n, int size, float *a, float *b) {
  for (int step = 0; step < steps; ++step) {
    for (OUTER MAX_INNER_DIMS(16) int o = 0; o < n; o += size) {
      EXCLUSIVE float own;
      for (INNER int i = o; i < o + size; ++i)
        own = a[i];
      for (INNER int i = o; i < o + size; ++i)
        b[i] = own + a[(i + 1) % n];
    }
    float *other = a;
    a = b;
    b = other;
  }
}
// CHECK: wave: right
static void test_wave() {
  const int n = 60;
  Data a = numbers(n), b(n), expected = a;
  for (int step = 0; step < 3; step++) {
    Data next(n);
    for (int i = 0; i < n; i++)
      next[i] = expected[i] + expected[(i + 1) % n];
    expected = next;
  }
  wave(3, n, 12, a.data(), b.data());
  compare("wave", b, expected);
}

// Templates, and three directions.
template <typename T, int size> __attribute__((annotate("okl.kernel"))) void cube(int n, const T *a, T *b) {
  for (OUTER_AXIS(0) int o = 0; o < n; ++o) {
    EXCLUSIVE T own[2];
    for (INNER_AXIS(2) int k = 0; k < size; ++k)
      for (INNER_AXIS(1) int j = 0; j < size; ++j)
        for (INNER_AXIS(0) int i = 0; i < size; ++i)
          own[0] = a[((o * size + k) * size + j) * size + i], own[1] = own[0] * own[0];
    for (INNER_AXIS(2) int k = 0; k < size; ++k)
      for (INNER_AXIS(1) int j = 0; j < size; ++j)
        for (INNER_AXIS(0) int i = 0; i < size; ++i)
          b[((o * size + i) * size + j) * size + k] = own[1] - own[0];
  }
}
// CHECK: cube: right
static void test_cube() {
  const int n = 2, size = 3;
  Data a = numbers(n * 27), b(n * 27), expected(n * 27);
  for (int o = 0; o < n; o++)
    for (int k = 0; k < size; k++)
      for (int j = 0; j < size; j++)
        for (int i = 0; i < size; i++) {
          float one = a[((o * size + k) * size + j) * size + i];
          expected[((o * size + i) * size + j) * size + k] = one * one - one;
        }
  cube<float, size>(n, a.data(), b.data());
  compare("cube", b, expected);
}

// Skips, loops and calls in an iteration with a barrier; one with no name.
KERNEL void skips(int n, const float *a, float *b) {
  for (OUTER int o = 0; o < n; o += 8) {
    if (o == 8)
      continue;
    SHARED float s[8];
    for (INNER int i = 0; i < 8; ++i) {
      float sum = 0;
      for (int k = 0; k <= i; ++k) {
        if (k == 2)
          continue;
        sum += a[o + k];
      }
      s[7 - i] = sum;
      {
        Pair pair = {sum, a[o]};
        BARRIER;
        sum += pair.second;
      }
      if (i == 3)
        continue;
      b[o + i] = std::fabs(s[i]) + sum;
    }
  }
}
// CHECK: skips: right
static void test_skips() {
  const int n = 32;
  Data a = numbers(n), b(n), expected(n);
  for (int i = 0; i < n; i++) {
    int o = i / 8 * 8;
    auto sum = [&](int last) {
      float sum = 0;
      for (int k = 0; k <= last; k++)
        sum += k == 2 ? 0 : a[o + k];
      return sum;
    };
    if (o != 8 && i % 8 != 3)
      expected[i] = std::fabs(sum(7 - i % 8)) + (sum(i % 8) + a[o]);
  }
  skips(n, a.data(), b.data());
  compare("skips", b, expected);
}

int main() {
  test_add();
  test_stencil();
  test_reduce();
  test_multiply();
  test_transpose();
  test_scan();
  test_histogram();
  test_siblings();
  test_forms();
  test_reverse();
  test_begins();
  test_wave();
  test_cube();
  test_skips();
  return wrong;
}
