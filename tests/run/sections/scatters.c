// Threads write through index arrays, each to places of its own: all over a page, in elements of several sizes,
// behind conditions, in functions, what was there before, and places that change from step to step.
// threads: any
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 12000, SMALL = 60 };

struct point {
  double x;
  int n;
  char name[4];
};

static unsigned char bytes[N];
static short shorts[N];
static int ints[N], place[N], block[N];
static double doubles[N];
static struct point points[N];

static long mixed(long sum, const void *of, size_t size) {
  const unsigned char *at = of;
  for (size_t i = 0; i < size; i++) sum = (sum * 31 + at[i]) % 1000000007;
  return sum;
}

// Where element i goes: places that no other has, in some blocks or everywhere.
static void choose(int step) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    place[i] = (int)((i * 7919L + step * 1009L) % N);
    block[i] = (i + 1500 * (1 + step % 7)) % N;
  }
}

__attribute__((noinline)) static void put(double *to, long at, double value) { to[at] = value; }

__attribute__((noinline)) static void put_all(int *to, const int *at, int first, int last) {
  for (int i = first; i < last; i++) to[at[i]] = 2 * i;
}

// Elements of different sizes in one loop.
static void sizes(int step) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    bytes[place[i]] = i + step;
    shorts[place[i]] = i * 3;
    ints[block[i]] = i - step;
    doubles[block[i]] = i * 0.5 + step % 2;
  }
}

static void structures(int step, struct point *from) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) points[block[i]] = from[i];
#pragma omp parallel for
  for (int i = 0; i < N; i++) points[place[i]].n += i + step;
#pragma omp parallel for
  for (int i = 0; i < N; i++) points[place[i]].name[i % 4] = 'a' + i % 26;
}

static void conditions(double *to, const double *from, int step) {
#pragma omp parallel for schedule(static, 100)
  for (int i = 0; i < N; i++)
    if ((i + step) % 3) to[place[i]] = from[i];
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    if (i % 5 == step % 5) continue;
    for (int k = 0; k <= i % 3; k++) to[block[i]] += k + from[place[i]] / 8;
  }
}

static void functions(double *to, int *other) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) put(to, place[i], i);
#pragma omp parallel
  {
#pragma omp for
    for (int part = 0; part < 12; part++) put_all(other, block, part * (N / 12), (part + 1) * (N / 12));
  }
}

// A thread reads what it has written since the last barrier, among what others have.
static void again(double *to, double *sums) {
#pragma omp parallel
  {
#pragma omp for schedule(static) nowait
    for (int i = 0; i < N; i++) to[place[i]] = i;
#pragma omp for schedule(static) nowait
    for (int i = 0; i < N; i++) sums[i] += to[place[i]] + (i ? 0.25 : 0.5);
#pragma omp for schedule(static)
    for (int i = 0; i < N; i++) to[place[i]] += 1;
#pragma omp for schedule(dynamic, 500)
    for (int i = 0; i < N; i++) sums[i] += to[block[i]];
  }
}

// Most is there already, and the owner of each changes.
static void same(int *to, int step) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) to[(i * 7L + step) % N] = 5;
#pragma omp parallel for
  for (int i = 0; i < N; i++) to[(i + 3000) % N] = i % 2 ? 5 : step;
}

// Lists are filled, and a few counters in one page.
static void compact(int *list, int *counts, int step) {
#pragma omp parallel for
  for (int part = 0; part < SMALL; part++) {
    int *next = list + part * (N / SMALL), *end = next;
    counts[part * 7 % SMALL] = 0;
    for (int i = 0; i < N / SMALL; i++)
      if ((i * 13 + part + step) % 4) *end++ = i;
    counts[part * 7 % SMALL] += (int)(end - next);
  }
}

int main(void) {
  double *to = calloc(N, sizeof *to), *from = malloc(N * sizeof *from), *sums = calloc(N, sizeof *sums);
  int *other = calloc(N, sizeof *other), *counts = calloc(SMALL, sizeof *counts);
  struct point *source = calloc(N, sizeof *source);
  for (int i = 0; i < N; i++) {
    from[i] = i / 4;
    source[i] = (struct point){i, 3 * i, "abc"};
  }
  long sum = 1;
  for (int step = 0; step < 8; step++) {
    choose(step);
    sizes(step);
    sum = mixed(sum, bytes, sizeof bytes);
    structures(step, source);
    conditions(to, from, step);
    if (step % 3 == 0) sum = mixed(sum, to, N * sizeof *to);
    functions(to, other);
    again(to, sums);
    same(ints, step);
    if (step % 2) ints[step * 1000] = -1;
    compact(other, counts, step);
    printf("%d: %d %g %d\n", step, counts[13], sums[17], ints[4242]);
  }
  sum = mixed(sum, shorts, sizeof shorts);
  sum = mixed(sum, ints, sizeof ints);
  sum = mixed(sum, doubles, sizeof doubles);
  for (int i = 0; i < N; i++) sum = mixed(mixed(sum, &points[i].x, 8), &points[i].n, 8);
  sum = mixed(sum, to, N * sizeof *to);
  sum = mixed(sum, sums, N * sizeof *sums);
  sum = mixed(sum, other, N * sizeof *other);
  sum = mixed(sum, counts, SMALL * sizeof *counts);
  printf("%ld\n", sum);
  free(to);
  free(from);
  free(sums);
  free(other);
  free(counts);
  free(source);
  return 0;
}
