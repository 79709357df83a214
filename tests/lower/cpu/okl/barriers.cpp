// Barriers in regular loops and under conditions that are the same for all work items: kernels compute what plainly written
// loops do.
// RUN: for level in -O0 "-O2 -g" "-O3 -march=native"; do clang++-22 -fopenmp -std=c++17 $level -fpass-plugin=%plugin %s -L%runtime-dir -lokl_cpu -Wl,-rpath,%runtime-dir -o %t && timeout 60 %t || exit 1; done | FileCheck %s
#include "okl.h"

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

// The tree of a reduction.
KERNEL void reduce(int n, const float *a, float *sums) {
  for (OUTER int block = 0; block < n; ++block) {
    SHARED float s[64];
    for (INNER int t = 0; t < 64; ++t) {
      s[t] = a[block * 64 + t];
      BARRIER;
      for (int stride = 32; stride > 0; stride /= 2) {
        if (t < stride)
          s[t] += s[t + stride];
        BARRIER;
      }
      if (t == 0)
        sums[block] = s[0];
    }
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

// Tiled matrix multiply in one nest of two directions: each work item adds up across barriers.
KERNEL void multiply(int n, const float *a, const float *b, float *c) {
  for (OUTER int y = 0; y < n; y += 4)
    for (OUTER int x = 0; x < n; x += 4) {
      SHARED float as[4][4], bs[4][4];
      for (INNER int j = 0; j < 4; ++j)
        for (INNER int i = 0; i < 4; ++i) {
          float sum = 0;
          for (int k = 0; k < n; k += 4) {
            as[j][i] = a[(y + j) * n + k + i];
            bs[j][i] = b[(k + j) * n + x + i];
            BARRIER;
            for (int l = 0; l < 4; ++l)
              sum += as[j][l] * bs[l][i];
            BARRIER;
          }
          c[(y + j) * n + x + i] = sum;
        }
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

// Neighbours in turns: loops in loops, conditions with and without something else, `break` and `continue`, and what a work
// item keeps from turn to turn: a variable without a first value, and an array of which it uses an element each turn.
KERNEL void neighbours(int n, int limit, const float *a, float *b) {
  for (OUTER int o = 0; o < n; o += 16) {
    SHARED float s[16];
    EXCLUSIVE float kept = 1;
    for (INNER int t = 0; t < 16; ++t) {
      float last, ring[3] = {1, 2, 3};
      s[t] = a[o + t];
      for (int k = 0; k < n; k++) {
        if (k == 0)
          last = t;
        if (limit > 5) {
          BARRIER;
          kept += s[(t + 1) % 16];
          BARRIER;
          s[t] = kept - last;
        } else
          s[t] += last;
        if (k % 3 == 1)
          continue;
        int m = k;
        while (m > limit) {
          ring[(m + t) % 3] += s[t];
          BARRIER;
          last += s[15 - t] + ring[m % 3];
          m -= 2;
          BARRIER;
        }
        if (k == limit)
          break;
        last = last / 4 - k;
      }
      BARRIER;
      b[o + t] = s[15 - t] + ring[t % 3] + last + kept;
    }
  }
}
static void plain_neighbours(int n, int limit, const float *a, float *b) {
  for (int o = 0; o < n; o += 16) {
    float s[16], kept[16], last[16], ring[16][3];
#define ALL for (int t = 0; t < 16; ++t)
    ALL kept[t] = 1, ring[t][0] = 1, ring[t][1] = 2, ring[t][2] = 3, s[t] = a[o + t];
    for (int k = 0; k < n; k++) {
      if (k == 0)
        ALL last[t] = t;
      if (limit > 5) {
        ALL kept[t] += s[(t + 1) % 16];
        ALL s[t] = kept[t] - last[t];
      } else
        ALL s[t] += last[t];
      if (k % 3 == 1)
        continue;
      int m = k;
      while (m > limit) {
        ALL ring[t][(m + t) % 3] += s[t];
        ALL last[t] += s[15 - t] + ring[t][m % 3];
        m -= 2;
      }
      if (k == limit)
        break;
      ALL last[t] = last[t] / 4 - k;
    }
    ALL b[o + t] = s[15 - t] + ring[t][t % 3] + last[t] + kept[t];
  }
}
// CHECK: neighbours 2: right
// CHECK: neighbours 7: right
// CHECK: neighbours 40: right
static void test_neighbours() {
  const int n = 32;
  Data a = numbers(n), b(n), expected(n);
  for (int limit : {2, 7, 40}) {
    neighbours(n, limit, a.data(), b.data());
    plain_neighbours(n, limit, a.data(), expected.data());
    char name[32];
    snprintf(name, sizeof name, "neighbours %d", limit);
    compare(name, b, expected);
  }
}

// A loop that ends behind its barrier, a choice of several, and no barrier at all behind one of the ways.
KERNEL void choices(int n, int way, const float *a, float *b) {
  for (OUTER int o = 0; o < n; o += 8) {
    SHARED float s[8];
    for (INNER int t = 0; t < 8; ++t) {
      int left = way;
      s[t] = a[o + t];
      do {
        float own = s[7 - t];
        BARRIER;
        s[t] += own;
        if (own > 0)
          s[t] -= t;
        BARRIER;
      } while (--left > 0);
      switch (way) {
      case 1:
        BARRIER;
        b[o + t] = s[(t + 1) % 8];
        break;
      case 2:
        b[o + t] = s[t];
        break;
      default:
        for (int k = way; k > 0; k--) {
          float own = s[(t + k) % 8];
          BARRIER;
          s[t] = own;
          BARRIER;
        }
        b[o + t] = -s[t];
      }
    }
  }
}
static void plain_choices(int n, int way, const float *a, float *b) {
  for (int o = 0; o < n; o += 8) {
    float s[8], own[8];
#undef ALL
#define ALL for (int t = 0; t < 8; ++t)
    ALL s[t] = a[o + t];
    int left = way;
    do {
      ALL own[t] = s[7 - t];
      ALL s[t] += own[t] - (own[t] > 0 ? t : 0);
    } while (--left > 0);
    if (way == 1)
      ALL b[o + t] = s[(t + 1) % 8];
    else if (way == 2)
      ALL b[o + t] = s[t];
    else {
      for (int k = way; k > 0; k--) {
        ALL own[t] = s[(t + k) % 8];
        ALL s[t] = own[t];
      }
      ALL b[o + t] = -s[t];
    }
  }
}
// CHECK: choices 1: right
// CHECK: choices 2: right
// CHECK: choices 3: right
static void test_choices() {
  const int n = 24;
  Data a = numbers(n), b(n), expected(n);
  for (int way : {1, 2, 3}) {
    choices(n, way, a.data(), b.data());
    plain_choices(n, way, a.data(), expected.data());
    char name[32];
    snprintf(name, sizeof name, "choices %d", way);
    compare(name, b, expected);
  }
}

// Where there are no work items, nothing runs: not the loop either, which would not end.
KERNEL void nobody(int m, unsigned from, float *a) {
  for (OUTER int o = 0; o < 1; ++o) {
    SHARED float s[16];
    for (INNER int t = 0; t < m; ++t)
      for (unsigned k = from; k != 6; k += 2) {
        s[t] = a[t];
        BARRIER;
        a[t] = s[m - 1 - t] + 1;
        BARRIER;
      }
  }
}
// CHECK: nobody: right
static void test_nobody() {
  Data a = {1, 2, 3, 4, 5};
  nobody(5, 2, a.data());
  nobody(0, 1, a.data());
  compare("nobody", a, {3, 4, 5, 6, 7});
}

// Outer loops side by side in one: their blocks run one after the other, each with its own of what it has.
KERNEL void side_by_side(int n, const float *a, float *b) {
  for (OUTER int p = 0; p < n; ++p) {
    for (OUTER int o = 0; o < 3; ++o) {
      SHARED float s[4];
      EXCLUSIVE float own = 2;
      for (INNER int t = 0; t < 4; ++t)
        own += s[t] = a[(p * 3 + o) * 4 + t];
      for (INNER int t = 0; t < 4; ++t)
        b[(p * 3 + o) * 4 + t] = own * s[3 - t];
    }
    for (OUTER int o = 2; o > 0; --o)
      for (INNER int t = 0; t < 4; ++t) {
        float own = b[(p * 3 + o) * 4 + t];
        BARRIER;
        b[(p * 3 + o) * 4 + 3 - t] = own + 1;
      }
  }
}
// CHECK: side by side: right
static void test_side_by_side() {
  const int n = 2;
  Data a = numbers(n * 12), b(n * 12), expected(n * 12);
  for (int i = 0; i < n * 12; i++) {
    int first = i / 4 * 4, t = i % 4;
    bool is_turned = i / 4 % 3 > 0;
    int from = is_turned ? 3 - t : t;
    expected[i] = (2 + a[first + from]) * a[first + 3 - from] + is_turned;
  }
  side_by_side(n, a.data(), b.data());
  compare("side by side", b, expected);
}

int main() {
  test_reduce();
  test_multiply();
  test_neighbours();
  test_choices();
  test_nobody();
  test_side_by_side();
  return wrong;
}
