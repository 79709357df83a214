// Tiles one in the other, with variables of blocks and of work items, compute what plainly written loops do.
// RUN: for level in -O0 "-O2 -g" "-O3 -march=native"; do clang++-22 -fopenmp -std=c++17 $level -fpass-plugin=%plugin %s -L%runtime-dir -lokl_cpu -Wl,-rpath,%runtime-dir -o %t && OMP_NUM_THREADS=3 %t || exit 1; done
#include "okl.h"
#include "random.h"

#include <cstddef>
#include <cstdio>
#include <vector>

// Two deep, with bounds of their own and a variable between.
KERNEL void two(int n, int m, int dy, int size, int *a) {
  for (TILE(4, "outer", "inner", 1) int y = 1; y < n; y += dy) {
    const int row = y * m;
    for (TILE(0, "outer", "inner", 1) long x = SIZED(size, m - 1); x >= 0; --x) {
      if (x == 3)
        continue;
      a[row + x] += y * 1000 + x;
    }
  }
}
static void plain_two(int n, int m, int dy, int, int *a) {
  for (int y = 1; y < n; y += dy)
    for (int x = 0; x < m; x++)
      if (x != 3)
        a[y * m + x] += y * 1000 + x;
}

// Three deep: the order of OCCA's, outer loops first.
KERNEL void three(int n, int m, int dy, int size, int *a) {
  for (TILE(2, "outer", "inner", 1) unsigned z = 0; z < unsigned(n); z++)
    for (TILE(3, "outer", "inner", 1) short y = n; y > 0; y -= dy)
      for (TILE(0, "outer", "inner", 1) int x = SIZED(size + 1, 0); x <= m - 1; x += 2) {
        a[(z * n + y - 1) * m + x] += z * 10000 + y * 100 + x;
        ATOMIC(a[n * n * m]++);
      }
}
static void plain_three(int n, int m, int dy, int, int *a) {
  for (int z = 0; z < n; z++)
    for (int y = n; y > 0; y -= dy)
      for (int x = 0; x < m; x += 2)
        a[(z * n + y - 1) * m + x] += z * 10000 + y * 100 + x, a[n * n * m]++;
}

// In an outer loop, with what work items share and have one each, and barriers at the ends of nests.
KERNEL void mixed(int n, int m, int, int, int *a) {
  for (OUTER int o = 0; o < n; ++o) {
    SHARED int s[24];
    EXCLUSIVE int own;
    for (TILE(8, "inner", "inner", 1) int i = 0; i < 24; ++i) {
      s[i] = o + i;
      own = i * o;
    }
    for (TILE(8, "inner", "inner", 0) int i = 23; i >= 0; --i) {
      own += s[i];
      BARRIER;
      s[i] = own;
    }
    for (TILE(8, "inner", "inner", 1) int i = 0; i < 24; ++i)
      if (i < m)
        a[o * m + i] = s[23 - i] + own;
  }
}
static void plain_mixed(int n, int m, int, int, int *a) {
  for (int o = 0; o < n; ++o) {
    int s[24], own[24];
    for (int i = 0; i < 24; ++i)
      s[i] = o + i, own[i] = i * o;
    // The items are numbered as they come.
    for (int i = 0; i < 24; ++i)
      own[i] += s[23 - i];
    for (int i = 0; i < 24; ++i)
      s[23 - i] = own[i];
    for (int i = 0; i < 24 && i < m; ++i)
      a[o * m + i] = s[23 - i] + own[i];
  }
}

// Blocks of blocks, and the loops over work items written out; the check is the same for all work items of a block.
KERNEL void blocks(int n, int m, int dy, int size, int *a) {
  for (TILE(3, "outer", "outer", 1) int y = 0; y < n; y += dy) {
    SHARED int s[16];
    for (INNER int i = 0; i < 16; ++i)
      s[i] = y + i;
    for (INNER int i = 0; i < 16; ++i)
      if (i < m)
        a[y * m + i] += s[15 - i];
  }
  for (TILE(0, "outer", "regular", 1) int y = SIZED(size, 0); y < n; y += dy) {
    for (INNER int i = y * 16; i < (y + 1) * 16; ++i) {
      int own = y;
      BARRIER;
      if (i - y * 16 < m)
        a[y * m + i - y * 16] += own;
    }
  }
}
static void plain_blocks(int n, int m, int dy, int, int *a) {
  for (int y = 0; y < n; y += dy)
    for (int i = 0; i < 16 && i < m; ++i)
      a[y * m + i] += y + 15 - i + y;
}

// A tile that divides, with a barrier in it: nobody is left out.
KERNEL void divides(int, int m, int, int, int *a) {
  for (TILE(16, "outer", "inner", 1) int i = 0; i < 64; ++i) {
    int own = i;
    BARRIER;
    ATOMIC(a[i % m] += own);
  }
  for (TILE(4, "outer", "inner", 0) int y = 0; y < 8; ++y)
    for (TILE(4, "outer", "inner", 0) int x = 0; x < 8; ++x) {
      int own = x * y;
      BARRIER;
      ATOMIC(a[x % m] += own);
    }
}
static void plain_divides(int, int m, int, int, int *a) {
  for (int i = 0; i < 64; ++i)
    a[i % m] += i;
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x)
      a[x % m] += x * y;
}

// Ends that move together: so many work items as the compiler can tell.
KERNEL void together(int n, int m, int, int, int *a) {
  for (OUTER int o = 0; o < n; o += 4) {
    EXCLUSIVE int own;
    for (INNER int i = o; i < o + 4; ++i)
      own = i;
    for (INNER int i = o * 2 + 3; o * 2 <= i; --i)
      if (o + i - o * 2 < n)
        a[(o + i - o * 2) * m] += own;
  }
  for (OUTER std::size_t o = 0; o < std::size_t(n); ++o) {
    EXCLUSIVE int own[2];
    for (INNER std::size_t i = o * 4; i < (o + 1) * 4; i += 2)
      own[0] = i, own[1] = o;
    for (INNER short i = 0; i <= 1; ++i)
      a[o * m] += own[0] + own[1];
  }
}
static void plain_together(int n, int m, int, int, int *a) {
  for (int o = 0; o < n; o += 4)
    for (int t = 0; t < 4; t++)
      if (o + 3 - t < n)
        a[(o + 3 - t) * m] += o + t;
  for (int o = 0; o < n; ++o)
    for (int t = 0; t < 2; t++)
      a[o * m] += o * 4 + t * 2 + o;
}

// The blocks of both tiles come first also where the items of the outer one are a loop like others; and a tile in a loop
// over blocks that is written out.
KERNEL void regular(int n, int m, int dy, int size, int *a) {
  for (TILE(2, "outer", "regular", 1) int y = n - 1; y >= 0; y -= dy)
    for (TILE(0, "outer", "inner", 1) int x = SIZED(size, 0); x < m; x++)
      a[y * m + x] = a[y * m + x] * 3 + y;
  for (OUTER int y = 0; y < n; y += dy) {
    const int end = m - y % 2;
    for (TILE(4, "outer", "inner", 1) int x = y % 2; x < end; x++)
      a[y * m + x] = a[y * m + x] * 3 + x;
  }
}
static void plain_regular(int n, int m, int dy, int, int *a) {
  for (int y = n - 1; y >= 0; y -= dy)
    for (int x = 0; x < m; x++)
      a[y * m + x] = a[y * m + x] * 3 + y;
  for (int y = 0; y < n; y += dy)
    for (int x = y % 2; x < m - y % 2; x++)
      a[y * m + x] = a[y * m + x] * 3 + x;
}

int main() {
  int wrong = 0;
  using Kernel = void(int, int, int, int, int *);
  struct {
    const char *name;
    Kernel *kernel, *plain;
  } all[] = {{"two", two, plain_two},       {"three", three, plain_three},       {"mixed", mixed, plain_mixed},
             {"blocks", blocks, plain_blocks}, {"divides", divides, plain_divides}, {"together", together, plain_together},
             {"regular", regular, plain_regular}};
  for (auto &one : all)
    for (int turn = 0; turn < 50; turn++) {
      int n = any(1, 20), m = any(1, 20), dy = any(1, 3), size = any(1, 9);
      std::vector<int> a(1000 + n * n * m, 7), b = a;
      one.kernel(n, m, dy, size, a.data());
      one.plain(n, m, dy, size, b.data());
      if (a != b && wrong++ < 9)
        printf("%s: wrong for %d %d %d %d\n", one.name, n, m, dy, size);
    }
  return wrong != 0;
}
