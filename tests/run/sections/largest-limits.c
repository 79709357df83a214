// Limits that are the largest number, which means that there is none: what the program adds to the smaller of limit and index, it
// never adds to the limit. And numbers without a sign that are taken modulo 2^64.
// threads: any
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { n = 30000 };

static long least(long a, long b) { return a < b ? a : b; }
static long most(long a, long b) { return a > b ? a : b; }

__attribute__((noinline)) static void mix(long count, char *a, int step) {
#pragma omp parallel for schedule(static, 7)
  for (long i = 0; i < count; i++) a[i] = a[i] * 3 + i % (step + 3);
}

__attribute__((noinline)) static void put(long limit, long first, char *a, int step) {
#pragma omp parallel for
  for (long i = 0; i < n; i++) {
    a[2 * i + 1] = i + step;
    a[first + least(limit, 2 * i)] = i * 3 + step;
  }
}

__attribute__((noinline)) static long get(long limit, long lowest, long first, const char *a) {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < n; i++) sum += a[first + least(limit, i)] * (i % 11) + a[most(lowest, i) - 0];
  return sum;
}

// A thread may have one tile only, which begins in front of 0.
__attribute__((noinline)) static void tiles(long count, long limit, char *a, int step) {
#pragma omp parallel for
  for (long b = 0; b < count; b++) {
    for (long j = 0; j < 500; j++) a[1000 * b + 2 * j + 1] = j + step;
    for (long i = b * 500 - 4; i < least(limit, b * 500 + 496); i++) a[2 * i + 8] = i + step;
  }
}

// 6 * base is 30, modulo 2^64.
__attribute__((noinline)) static void wrap(unsigned long base, unsigned long count, char *a, int step) {
#pragma omp parallel for
  for (unsigned long i = 0; i < count; i++) {
    unsigned long k = 6 * base + 18 * i;
    a[3 * i + 1] = i + step;
    a[k / 6] = i * 7 + step;
  }
}

volatile long none = LONG_MAX, below = LONG_MIN;
volatile unsigned long base = (1UL << 63) + 5;

int main(void) {
  char *a = calloc(3 * n, 1);
  for (int step = 0; step < 4; step++) {
    long sum = 0;
    mix(3 * n, a, step);
    put(none, 4, a, step);
    sum += get(none, below, 5, a);
    mix(3 * n, a, step);
    tiles(2 + step, none, a, step);
    sum += get(none, below, 2, a);
    wrap(base, n / 2, a, step);
    for (long i = 0; i < 3 * n; i++) sum = (sum * 31 + a[i]) % 1000000007;
    printf("%ld\n", sum);
  }
}
