// Where conditions hold for all items of a block, a version of it runs that asks none of them; what one item does alone stands
// behind the loop over items; arrays of items lie component by component.
// RUN: for level in "-O0 -g" "-O1" "-O2 -g" "-O3 -march=native"; do clang++-22 -std=c++17 $level -fopenmp -fpass-plugin=%plugin %s -L%runtime-dir -lokl_cpu -Wl,-rpath,%runtime-dir -o %t || exit 1; for threads in 1 3; do OMP_NUM_THREADS=$threads %t || exit 1; done; done
// RUN: clang++-22 -std=c++17 -O3 -mavx2 -fno-math-errno -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck --check-prefix=FAST %s
// RUN: clang++-22 -std=c++17 -O0 -Xclang -disable-O0-optnone -fpass-plugin=%plugin -S -emit-llvm %s -o - | FileCheck %s
#include "okl.h"

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <vector>

// Kernels that mean the same where nothing is said of their loops: as okl::NAME, and as plain::NAME.
#define KERNELS                                                                                                        \
  /* A border in one direction, with something to do on both sides of it. */                                          \
  KERNEL_(void either(int n, const int *a, int *b)) {                                                                 \
    for (OUTER int o = 0; o < n; o += 16)                                                                             \
      for (INNER int i = 0; i < 16; ++i) {                                                                            \
        if (o + i < n) b[o + i] = a[o + i];                                                                           \
        else b[o + i] = -1;                                                                                           \
      }                                                                                                               \
  }                                                                                                                   \
  /* In two directions, asked the other way round, of variables of blocks and items. */                               \
  KERNEL_(void corner(int n, int m, const int *a, int *b)) {                                                          \
    for (OUTER int y = 0; y < n; y += 4)                                                                              \
      for (OUTER int x = 0; x < m; x += 8) {                                                                          \
        const int base = y * m;                                                                                       \
        const int twice = base + base;                                                                                \
        for (INNER int j = 0; j < 4; ++j)                                                                             \
          for (INNER int i = 7; i >= 0; --i) {                                                                        \
            const int row = y + j, column = x + i;                                                                    \
            if (n <= row) continue;                                                                                   \
            if (m > column && column >= 1 && twice - i < 2 * n * m) b[base + j * m + column] += a[base + j * m + column - 1]; \
            else if (m > column) b[base + j * m + column] -= 1;                                                       \
          }                                                                                                           \
      }                                                                                                               \
  }                                                                                                                   \
  /* What is compared changes in a block, or from block to block, or is computed under a condition. */                \
  KERNEL_(void moving(int n, const int *a, int *b)) {                                                                 \
    for (OUTER int o = 0; o < n; ++o) {                                                                               \
      int end = 3;                                                                                                    \
      int most;                                                                                                       \
      if (a[o] % 2) most = 5;                                                                                         \
      else most = 9;                                                                                                  \
      for (INNER int i = 0; i < 8; ++i)                                                                               \
        if (o + i < o + end) b[o * 8 + i] += 1;                                                                       \
      end = 6;                                                                                                        \
      for (int k = 0; k < 3; ++k) {                                                                                   \
        const int here = k * 3;                                                                                       \
        for (INNER int i = 0; i < 8; ++i) {                                                                           \
          if (o + i < o + end) b[o * 8 + i] += 10;                                                                    \
          if (o + i < o + here) b[o * 8 + i] += 100;                                                                  \
          if (o + i < o + most) b[o * 8 + i] += 1000;                                                                 \
        }                                                                                                             \
      }                                                                                                               \
    }                                                                                                                 \
  }                                                                                                                   \
  /* The second condition may overflow where the first one does not hold. */                                          \
  KERNEL_(void far(int n, int *b)) {                                                                                  \
    for (OUTER int o = 0; o < n; ++o)                                                                                 \
      for (INNER int i = 0; i < 16; ++i)                                                                              \
        if (i < n - 20 * o)                                                                                           \
          if (i + (INT_MAX - n + 20 * o) < INT_MAX - 3) b[o * 16 + i] += 1;                                           \
  }                                                                                                                   \
  /* Of some rows, to which alone items come; in others it would overflow. */                                         \
  KERNEL_(void rows(int n, int m, int *b)) {                                                                          \
    for (OUTER int o = 0; o < 3; ++o)                                                                                 \
      for (INNER int j = 0; j < 16; ++j)                                                                              \
        if (j < m)                                                                                                    \
          for (INNER int i = 0; i < 16; ++i)                                                                          \
            if (i + j * 0x10000000 < n) b[o * 256 + j * 16 + i] += 1;                                                 \
  }                                                                                                                   \
  /* Numbers without a sign, which wrap around. */                                                                    \
  KERNEL_(void wraps(int n, unsigned from, int *b)) {                                                                 \
    for (OUTER int o = 0; o < n; ++o)                                                                                 \
      for (INNER unsigned i = 0; i < 16; ++i) {                                                                       \
        if (from + i < 100) b[o * 16 + i] += 1;                                                                       \
        if ((int)(from + i) < 100) b[o * 16 + i] += 10;                                                               \
        if (i < (unsigned)n) b[o * 16 + i] += 100;                                                                    \
      }                                                                                                               \
  }                                                                                                                   \
  /* What the first and the last item do besides, and one in between. */                                              \
  KERNEL_(void ends(int n, const int *a, int *b)) {                                                                   \
    for (OUTER int o = 0; o < n; ++o) {                                                                               \
      SHARED int s[18];                                                                                               \
      for (INNER int i = 0; i < 16; ++i) {                                                                            \
        const int at = o * 16 + i + 1;                                                                                \
        s[i + 1] = a[at];                                                                                             \
        if (i == 0) {                                                                                                 \
          const int before = at - 1;                                                                                  \
          s[0] = a[before];                                                                                           \
        }                                                                                                             \
        if (15 == i) s[17] = a[at + 1];                                                                               \
        if (i == 99) s[at] = 1;                                                                                       \
        if (!(i - 3)) s[4] += 5;                                                                                      \
      }                                                                                                               \
      for (INNER int i = 0; i < 16; ++i) b[o * 16 + i] = s[i] + 2 * s[i + 1] + s[i + 2];                              \
    }                                                                                                                 \
  }                                                                                                                   \
  /* Behind it, items go on with what it has written, or it needs what was read before it was written. */             \
  KERNEL_(void between(int n, const int *a, int *b)) {                                                                \
    for (OUTER int o = 0; o < n; ++o)                                                                                 \
      for (INNER int i = 8; i > 0; i -= 2) {                                                                          \
        int mine = a[i];                                                                                              \
        int other = i;                                                                                                \
        if (i == 8) b[o * 8 + i - 2] = mine;                                                                          \
        b[o * 8 + i - 2] = b[o * 8 + i - 2] * 2 + 1;                                                                  \
        int read = b[o * 8 + i - 2];                                                                                  \
        b[o * 8 + i - 2] = 0;                                                                                         \
        if (i == 4) b[o * 8 + i - 1] = read;                                                                          \
        if (i == 2) other += 3;                                                                                       \
        if (i == 5) other = 1000;                                                                                     \
        b[o * 8 + i - 2] += other;                                                                                    \
        if (i == 2) {                                                                                                 \
          int sum = 0;                                                                                                \
          for (int k = 0; k < i; ++k) sum += a[k] + other;                                                            \
          b[o * 8 + i - 1] = sum;                                                                                     \
        }                                                                                                             \
      }                                                                                                               \
  }                                                                                                                   \
  /* What a few do besides, in one direction and in the other. */                                                      \
  KERNEL_(void several(int n, const int *a, int *b)) {                                                                \
    for (OUTER int o = 0; o < n; ++o) {                                                                               \
      SHARED int s[24];                                                                                               \
      for (INNER int i = 0; i < 16; ++i) {                                                                            \
        s[i + 4] = a[o * 16 + i];                                                                                     \
        if (i < 4) {                                                                                                  \
          s[i] = a[o * 16 + i + 16];                                                                                  \
          if (i == 3) s[i] += 1;                                                                                      \
        }                                                                                                             \
        if (12 <= i) s[i + 8] = a[o * 16 + 15 - i];                                                                   \
      }                                                                                                               \
      for (INNER unsigned i = 15; i > 0; --i) {                                                                       \
        b[o * 16 + i] = s[i] + 2 * s[i + 4] + 3 * s[i + 8];                                                           \
        const int more = i * 3;                                                                                       \
        if (i <= 5) b[o * 16 + i] += more;                                                                            \
        if (i > 7) b[o * 16 + i] -= 1;                                                                                \
        if (i != 15) b[o * 16 + i] *= 2;                                                                              \
      }                                                                                                               \
      for (INNER signed char i = -10; i <= 110; i += 10) {                                                             \
        if (i >= 100) b[o * 16 + i / 10 + 1] += i;                                                                     \
        if (i < -5) b[o * 16 + i / 10 + 1] ^= 1;                                                                       \
        if (i < -100) b[o * 16 + i / 10 + 1] += 1000;                                                                  \
        if (i < 5 && i > -5) b[o * 16 + i / 10 + 1] += 7;                                                              \
      }                                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  /* Before what all do: it stays there. */                                                                            \
  KERNEL_(void first(int n, int *b)) {                                                                                 \
    for (OUTER int o = 0; o < n; ++o)                                                                                  \
      for (INNER int i = 0; i < 8; ++i) {                                                                              \
        if (i == 2) b[o * 8 + i] = 7;                                                                                  \
        b[o * 8 + i] += i;                                                                                             \
      }                                                                                                               \
  }

#define KERNEL_(signature) __attribute__((annotate("okl.kernel"))) signature
namespace okl {
KERNELS
}
#undef KERNEL_
#undef OUTER
#undef INNER
#undef SHARED
#define KERNEL_(signature) __attribute__((noinline)) signature
#define OUTER
#define INNER
#define SHARED
namespace plain {
KERNELS
}
#undef OUTER
#undef INNER
#undef SHARED
#define OUTER __attribute__((annotate("okl.outer")))
#define INNER __attribute__((annotate("okl.inner")))
#define SHARED __attribute__((annotate("okl.shared")))

// All of the tree is in registers, in whole blocks; in others it is in memory.
// FAST-LABEL: define internal void @sums.omp_outlined(
// FAST:       alloca [256 x float]
// FAST-NOT:   alloca [
// FAST:       freeze i1
// FAST:       ret void
KERNEL void sums(int n, const float *__restrict a, float *__restrict sums) {
  for (OUTER int o = 0; o < (n + 255) / 256; ++o) {
    SHARED float s[256];
    for (INNER int i = 0; i < 256; ++i) {
      if (o * 256 + i < n) s[i] = a[o * 256 + i];
      else s[i] = 0;
    }
    for (int alive = 128; alive > 0; alive /= 2)
      for (INNER int i = 0; i < 256; ++i)
        if (i < alive) s[i] += s[i + alive];
    for (INNER int i = 0; i < 256; ++i)
      if (i == 0) sums[o] = s[0];
  }
}

// The border is not asked for item by item, nor written under a mask.
// FAST-LABEL: define internal void @stencil.omp_outlined(
// FAST-NOT:     load float
// FAST:         call void @llvm.memcpy
// FAST-COUNT-2: load float
// FAST-NOT:     load float
// FAST:         ret void
KERNEL void stencil(int n, const float *__restrict a, float *__restrict b) {
  for (OUTER int o = 0; o < n; ++o) {
    SHARED float s[258];
    for (INNER int i = 0; i < 256; ++i) {
      s[i + 1] = a[o * 256 + i + 1];
      if (i == 0) s[0] = a[o * 256];
      if (i == 255) s[257] = a[o * 256 + 257];
    }
    for (INNER int i = 0; i < 256; ++i) b[o * 256 + i] = s[i] + s[i + 1] + s[i + 2];
  }
}

// CHECK-LABEL: define internal void @components.omp_outlined(
// CHECK-DAG:     alloca [120 x float], align 64
// CHECK-DAG:     alloca [240 x i16], align 64
// Whole arrays lie together whose address is passed on, or that are filled as a whole; and at a distance that caches do not like,
// components are farther apart.
// CHECK-DAG:     alloca [40 x [2 x double]], align 64
// CHECK-DAG:     alloca [40 x [2 x i64]], align 64
// CHECK:         ret void
// CHECK-LABEL: define internal void @apart.omp_outlined(
// CHECK:         alloca [1056 x float], align 64
void change(double *both) { both[1] += both[0]; }
KERNEL void components(int n, const float *a, double *b) {
  for (OUTER int o = 0; o < n; ++o) {
    EXCLUSIVE float few[3];
    EXCLUSIVE short table[2][3];
    EXCLUSIVE double both[2];
    EXCLUSIVE long begun[2] = {4, 5};
    for (INNER int i = 0; i < 40; ++i) {
      for (int k = 0; k < 3; ++k) few[k] = a[k] + i + o;
      for (int k = 0; k < 6; ++k) table[k / 3][k % 3] = k * i;
      both[0] = i;
      both[1] = 1;
      change(both);
      begun[i % 2] += i;
    }
    for (INNER int i = 39; i >= 0; --i) {
      double sum = few[0] + 2 * *(few + 1) + 3 * few[i % 3];
      for (int k = 0; k < 2; ++k)
        for (int m = 0; m < 3; ++m) sum += table[k][m] * (k + 1);
      few[2] = sum + both[1] + begun[0] + 3 * begun[1];
    }
    for (INNER int i = 0; i < 40; ++i) b[o * 40 + i] = few[2];
  }
}
KERNEL void apart(int n, float *a) {
  for (OUTER int o = 0; o < n; ++o) {
    EXCLUSIVE float two[2];
    for (INNER int i = 0; i < 512; ++i) two[0] = two[1] = a[i + o * 512];
    for (INNER int i = 0; i < 512; ++i) a[i + o * 512] = two[0] + two[1];
  }
}

// Components are where arrays would not begin.
// CHECK-LABEL: define internal void @odd.omp_outlined(
// CHECK-NOT:     i32 {{.*}}, align 16
// CHECK:         ret void
KERNEL void odd(int n, int *a) {
  for (OUTER int o = 0; o < n; ++o) {
    EXCLUSIVE int four[4];
    for (INNER int i = 0; i < 5; ++i) {
      four[0] = i;
      four[1] = o;
      four[2] = four[3] = 1;
    }
    for (INNER int i = 0; i < 5; ++i) a[i + o * 5] = four[0] + 10 * four[1] + 100 * four[2] + four[3];
  }
}

// In the pieces of a nest with barriers, too.
KERNEL void pieces(int n, int *a) {
  for (OUTER int o = 0; o < n; ++o) {
    SHARED int s[6];
    EXCLUSIVE int two[2];
    for (INNER int i = 0; i < 6; ++i) {
      two[i % 2] = i;
      two[1 - i % 2] = 10 * o;
      s[i] = i;
      BARRIER;
      for (int k = 0; k < 3; ++k) {
        two[k % 2] += s[5 - i];
        BARRIER;
        s[i] += two[0];
        BARRIER;
      }
      a[o * 6 + i] = two[0] + two[1] + s[i];
    }
  }
}

// Some items come to a condition and others do not, since the program ends before.
static int reached[16];
__attribute__((noinline)) static void ends_from(int i, int last) {
  if (i >= last) std::exit(0);
}
KERNEL void stops(int n, int from, int last) {
  for (OUTER int o = 0; o < 1; ++o)
    for (INNER int i = 0; i < 16; ++i) {
      ends_from(i, last);
      if (i * 0x10000000 + from < n) reached[i] = 1;
    }
}

static int wrong;
static void check(const char *name, bool is_right) {
  if (!is_right) {
    wrong++;
    printf("wrong: %s\n", name);
  }
}

// Runs both with an array of their own.
template <class Kernel, class... Arguments>
static void compare(const char *name, Kernel okl, Kernel plain, Arguments... arguments) {
  std::vector<int> one(4000, 3), other(4000, 3);
  okl(arguments..., one.data());
  plain(arguments..., other.data());
  check(name, one == other);
}
#define COMPARE(name, ...) compare(#name, okl::name, plain::name, __VA_ARGS__)

int main() {
  std::vector<int> a(4000);
  for (int i = 0; i < 4000; i++) a[i] = i * 37 % 101;
  for (int n : {0, 1, 15, 16, 17, 48, 50}) {
    COMPARE(either, n, a.data());
    for (int m : {0, 1, 7, 8, 9, 24, 30}) COMPARE(corner, n, m, a.data());
    COMPARE(moving, n, a.data());
    COMPARE(far, n);
    for (int m : {0, 1, 3, 7}) COMPARE(rows, n, m);
    for (unsigned from : {0u, 84u, 85u, 90u, 100u, 0x7ffffff8u, 0xfffffff0u, 0xfffffff8u}) COMPARE(wraps, n, from);
    COMPARE(ends, n, a.data());
    COMPARE(between, n, a.data());
    COMPARE(several, n, a.data());
    COMPARE(first, n);
  }
  for (int n : {1, 255, 256, 257, 512, 900}) {
    std::vector<float> values(1024, 0), result(4, 0), expected(4, 0);
    for (int i = 0; i < n; i++) expected[i / 256] += values[i] = i % 7;
    sums(n, values.data(), result.data());
    check("sums", result == expected);
  }
  std::vector<float> values(3000), result(2560);
  for (int i = 0; i < 3000; i++) values[i] = i % 11;
  stencil(10, values.data(), result.data());
  for (int i = 0; i < 2560; i++) check("stencil", result[i] == values[i] + values[i + 1] + values[i + 2]);
  std::vector<double> items(200);
  components(5, values.data(), items.data());
  // The item that is the first one by its number is the last one of the second loop.
  for (int o = 0; o < 5; o++)
    for (int i = 0; i < 40; i++) {
      double sum = (values[0] + i + o) + 2 * (values[1] + i + o) + 3 * (values[(39 - i) % 3] + i + o);
      sum += (0 + 1 + 2 + 2 * (3 + 4 + 5)) * i;
      check("components", items[o * 40 + i] == float(sum + (1 + i) + (i % 2 ? 4 + 3 * (5 + i) : 4 + i + 3 * 5)));
    }
  std::vector<float> twice(1024);
  for (int i = 0; i < 1024; i++) twice[i] = i;
  apart(2, twice.data());
  for (int i = 0; i < 1024; i++) check("apart", twice[i] == 2 * i);
  std::vector<int> all(50);
  odd(10, all.data());
  for (int i = 0; i < 50; i++) check("odd", all[i] == i % 5 + i / 5 * 10 + 101);
  pieces(5, all.data());
  for (int o = 0; o < 5; o++) {
    int s[6], two[6][2];
    for (int i = 0; i < 6; i++) {
      two[i][i % 2] = s[i] = i;
      two[i][1 - i % 2] = 10 * o;
    }
    for (int k = 0; k < 3; k++) {
      for (int i = 0; i < 6; i++) two[i][k % 2] += s[5 - i];
      for (int i = 0; i < 6; i++) s[i] += two[i][0];
    }
    for (int i = 0; i < 6; i++) check("pieces", all[o * 6 + i] == two[i][0] + two[i][1] + s[i]);
  }
  std::atexit([] {
    for (int one : reached) check("stops", !one);
    std::_Exit(wrong != 0);
  });
  stops(10, 11, 3);
  return 1;
}
