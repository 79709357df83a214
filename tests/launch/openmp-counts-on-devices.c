// What work items compute of the numbers of their iterations, by multiplication where the program divides, is what threads
// compute, whatever is divided by; and what they combine is what all iterations have given, however many there are and of
// which type they are. Each kind of device gives the same.
//
// RUN: for level in -O0 -O3; do %okl-cc $level -g -w -fopenmp --okl-target=cuda,spirv,cpu %s -o %t -lm && \
// RUN:   OMP_NUM_THREADS=2 OKL_BACKEND=cpu %t > %t.threads && \
// RUN:   OMP_NUM_THREADS=2 OKL_BACKEND=cuda-emulated OKL_STATS=1 %t > %t.device 2> %t.table && cmp %t.threads %t.device && \
// RUN:   awk '/openmp-counts-on-devices.c:/ { all++ } END { exit all < 9 }' %t.table || exit 1; done
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 5000 };
static int out[MOST + 3];

static void tell(const char *what, int a, int b) {
  unsigned sum = 0;
  for (int i = 0; i < MOST + 3; i++) sum = sum * 31 + (unsigned)out[i];
  printf("%s %d %d: %u\n", what, a, b, sum);
  memset(out, 0, sizeof out);
}

static void two(int n, int m) {
#pragma omp parallel for collapse(2)
  for (int i = 0; i < n; i++)
    for (int j = 3; j < m + 3; j++) out[i * m + j] = i * 1000 + j;
  tell("two", n, m);
}

static void three(long n, long m, long k) {
#pragma omp parallel for collapse(3)
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      for (long l = 0; l < k; l++) out[(i * m + j) * k + l] = i * 10000 + j * 100 + l;
  tell("three", n * 100 + m, k);
}

static void steps(unsigned n, unsigned m) {
#pragma omp parallel for collapse(2) schedule(dynamic, 3)
  for (unsigned i = n; i > 0; i -= 1)
    for (unsigned j = 0; j < m; j += 2) out[(i - 1) * m + j] = i * 1000 + j;
  tell("steps", n, m);
}

// Divided by the program itself: by what may be 0 where it is not divided, or less.
static void divided(int n, int by) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) out[i] = by ? i / by * 7 + i % by : -i;
  tell("divided", n, by);
}

static void divided_wide(unsigned long n, unsigned long by) {
#pragma omp parallel for
  for (unsigned long i = 0; i < n; i++) out[i] = (int)(i / by * 7 + i % by + i / by % 3);
  tell("divided", (int)n, (int)by);
}

// Not from 0 on.
static void shifted(int from, int to, int by) {
#pragma omp parallel for
  for (int i = from; i < to; i++) out[i - from] = i / by * 7 + i % by;
  tell("shifted", from, by);
}

// A number below 0 is divided.
static void negative(int n, int by) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) out[i] = (-i / 3) % by + (-i / 5) / by + (i % -7) % by;
  tell("negative", n, by);
}

// What is only there under a condition: none of numbers.
static void under(int n, const int *only, double factor) {
#pragma omp parallel
  {
    if (only) {
#pragma omp for nowait
      for (int i = 0; i < n; i++) out[i] = i + *only;
    }
    if (factor != 0) {
#pragma omp for
      for (int i = 0; i < n; i++) out[i] -= only[1] * i;
    }
  }
  tell("under", n, only ? *only : 0);
}

static void under_one(int n, const int *only) {
#pragma omp parallel
  if (only) {
#pragma omp for
    for (int i = 0; i < n; i++) out[i] = i * *only;
  }
  tell("under", n, only ? *only : 0);
}

// A count that has no value where the loop does not run.
static void shifted_count(int bits) {
#pragma omp parallel
  if (bits < 12) {
#pragma omp for
    for (int i = 0; i < 1 << bits; i++) out[i] = i;
  }
  tell("bits", bits, 0);
}

// Computed of what it computes, again and again.
static void mixed_up(int n, unsigned seed) {
#pragma omp parallel
  {
    unsigned x = seed;
    for (int round = 0; round < 14; round++) {
      x ^= x << 13;
      x ^= x >> 17;
      x ^= x << 5;
    }
    if (x > 5) {
#pragma omp for
      for (int i = 0; i < n; i++) out[i] = i % (int)(x >> 8 | 1);
    }
  }
  tell("mixed up", n, (int)seed);
}

struct three {
  char a[3];
};
static void join(struct three *a, const struct three *b) {
  for (int i = 0; i < 3; i++) a->a[i] += b->a[i];
}
#pragma omp declare reduction(join : struct three : join(&omp_out, &omp_in)) initializer(omp_priv = (struct three){{0}})

struct pair {
  double a, b;
};
#pragma omp declare reduction(add : struct pair : omp_out.a += omp_in.a, omp_out.b += omp_in.b) initializer(omp_priv = (struct pair){0, 0})

static void combined(int n) {
  char least = CHAR_MAX;
  short bits = 0;
  long sum = 0, product = 1;
  unsigned char all = 1;
  struct three three = {{1, 2, 3}};
#pragma omp parallel for reduction(+ : sum) reduction(min : least) reduction(| : bits) reduction(&& : all) reduction(join : three)
  for (int i = 0; i < n; i++) {
    sum += (long)i * i;
    if ((i * 37) % 101 - 40 < least) least = (i * 37) % 101 - 40;
    bits |= 1 << i % 13;
    all = all && i < 4000;
    three.a[i % 3] += i;
  }
#pragma omp parallel for reduction(* : product)
  for (int i = 0; i < n; i++) product *= 2 * i + 1;
  long list[12] = {0};
#pragma omp parallel for reduction(+ : list)
  for (int i = 0; i < n; i++) list[i % 12] += i;
  struct pair pair = {1, 2};
#pragma omp parallel for reduction(add : pair)
  for (int i = 0; i < n; i++) {
    pair.a += i;
    pair.b += 2.0 * i;
  }
  double mine = 0, most = -1;
#pragma omp parallel for reduction(+ : mine) reduction(max : most)
  for (int i = 0; i < n; i++) {
    mine += 0.25 * (i % 7);
    most = (i * 53) % 1009 > most ? (i * 53) % 1009 : most;
  }
  printf("%d: %d %d %ld %ld %d %d %d %d", n, least, bits, sum, product, all, three.a[0], three.a[1], three.a[2]);
  for (int i = 0; i < 12; i++) printf(" %ld", list[i]);
  printf(" %g %g %g %g\n", pair.a, pair.b, mine, most);
}

int main(void) {
  static const int sizes[] = {1, 2, 3, 5, 7, 8, 31, 32, 33, 60};
  for (int a = 0; a < 10; a++)
    for (int b = 0; b < 10; b++) two(sizes[a], sizes[b]);
  two(0, 5), two(5, 0), two(-2, -3), two(1, MOST), two(MOST, 1), two(2, MOST / 2), two(MOST / 3, 3);
  three(1, 1, 1), three(1, 1, 40), three(40, 1, 1), three(1, 40, 1), three(7, 11, 13), three(0, 3, 3), three(-1, -2, 3), three(16, 16, 16);
  steps(17, 41), steps(1, 9), steps(9, 1), steps(0, 4);
  static const int by[] = {0, 1, -1, 2, -2, 3, 10, 255, 256, 257, 4999, 5000, 1 << 30, (1 << 30) + 1, INT_MAX, INT_MIN, INT_MIN + 1};
  for (int a = 0; a < 17; a++) divided(MOST, by[a]);
  divided(0, 3), divided(1, 1);
  divided_wide(MOST, 1), divided_wide(MOST, 6), divided_wide(MOST, 1ul << 40), divided_wide(MOST, ~0ul), divided_wide(0, 1);
  negative(MOST, 7), negative(MOST, -3), negative(1, 1);
  static const int two_numbers[] = {4, 9};
  under(MOST, NULL, 0), under(MOST, two_numbers, 0), under(MOST, two_numbers, 2), under_one(100, NULL), under_one(100, two_numbers);
  shifted_count(40), shifted_count(10), shifted_count(0);
  mixed_up(MOST, 77), mixed_up(0, 1);
  shifted(-100, 900, 7), shifted(5, 2000, 9), shifted(-5, -5, 3), shifted(INT_MAX - 50, INT_MAX, 3);
  static const int counts[] = {0, 1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1000, 5000, 70000};
  for (int a = 0; a < 15; a++) combined(counts[a]);
}
